"""Runs verified."""
