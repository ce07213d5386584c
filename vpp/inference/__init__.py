"""The samplers: async generators of events. They know nothing of files, HTTP or screens."""

from vpp.inference.sampling import sample

__all__ = ["sample"]
