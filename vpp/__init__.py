"""Verbalized Particle Posterior: Bayesian inference over hypotheses written in plain language."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vpp.library import Posterior, fit, load_run, reword, trial, weigh

__version__ = "0.1.0"
__all__ = ["Posterior", "__version__", "fit", "load_run", "reword", "trial", "weigh"]


def __getattr__(name: str) -> Any:
    """The library's front door opens on first use, so that the command line starts at once."""
    if name in ("Posterior", "fit", "load_run", "reword", "trial", "weigh"):
        import vpp.library

        return getattr(vpp.library, name)
    raise AttributeError(f"module 'vpp' has no attribute {name!r}")
