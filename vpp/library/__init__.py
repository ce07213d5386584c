"""The library: `vpp.fit`, `vpp.weigh`, `vpp.load_run`, `vpp.reword`, and the Posterior that they return."""

from vpp.library.fitting import fit, load_run, reword, weigh
from vpp.library.posterior import Particle, Posterior

__all__ = ["Particle", "Posterior", "fit", "load_run", "reword", "weigh"]
