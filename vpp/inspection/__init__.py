"""What a run tells, worked out as values: nothing here is drawn."""
