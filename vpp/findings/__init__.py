"""Findings: what a run says, one function a finding, from a RunView to its numbers and its blocks."""
