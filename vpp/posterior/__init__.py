"""The mathematics: pure numpy, no I/O, no model."""
