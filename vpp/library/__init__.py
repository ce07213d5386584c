"""The library: `vpp.fit`, `vpp.weigh`, `vpp.load_run`, `vpp.reword`, `vpp.trial`, and what they return."""

from vpp.library.fitting import fit, load_run, reword, trial, weigh
from vpp.library.posterior import Particle, Posterior

__all__ = ["Particle", "Posterior", "fit", "load_run", "reword", "trial", "weigh"]
