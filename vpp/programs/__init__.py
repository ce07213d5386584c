"""Programs: a hypothesis as a function of the row, which a sandbox runs."""
