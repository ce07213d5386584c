"""Cards, tables and bars of the pages, as escaped HTML."""
