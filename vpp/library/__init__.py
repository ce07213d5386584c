"""The library: `vpp.fit`, `vpp.weigh`, `vpp.load_run`, `vpp.reword`, `vpp.trial`, and what they return."""

from vpp.library.posterior import Particle, Posterior, fit, load_run, reword, trial, weigh

__all__ = ["Particle", "Posterior", "fit", "load_run", "reword", "trial", "weigh"]
