"""The library: `vpp.fit`, `vpp.weigh`, `vpp.load_run`, and the Posterior that they return."""

from vpp.library.fitting import fit, load_run, weigh
from vpp.library.posterior import Particle, Posterior

__all__ = ["Particle", "Posterior", "fit", "load_run", "weigh"]
