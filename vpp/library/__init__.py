"""The library: `vpp.fit`, `vpp.load_run`, and the Posterior that they return."""

from vpp.library.fitting import fit, load_run
from vpp.library.posterior import Particle, Posterior

__all__ = ["Particle", "Posterior", "fit", "load_run"]
