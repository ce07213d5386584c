"""Pictures of the app for docs/, and of every page in both themes and at two widths: `make pictures`."""
