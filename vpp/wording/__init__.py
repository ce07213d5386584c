"""Words, marks and escaping: how a finding is said, whatever it is drawn on."""
