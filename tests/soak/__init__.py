"""An app server in use for an hour: `make soak`. What it holds may not rise."""
