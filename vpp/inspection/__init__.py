"""Inspection: values derived from a run for display; nothing is drawn here."""
