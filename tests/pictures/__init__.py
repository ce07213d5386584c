"""Pictures of the app for docs/: `make pictures`."""
