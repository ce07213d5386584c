"""Blocks of a finding, and the renderers that draw them on a page, in a report and on a terminal."""
