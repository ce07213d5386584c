"""Runs on disk: the journal, its directory, the worker that writes it and the fold that reads it."""
