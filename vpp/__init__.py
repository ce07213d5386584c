"""Verbalized Particle Posterior: Bayesian inference over hypotheses written in plain language."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vpp.library import Posterior, fit, load_run, reword, trial, weigh
    from vpp.library.estimators import VPPClassifier, VPPRegressor

__version__ = "0.1.0"
__all__ = ["Posterior", "VPPClassifier", "VPPRegressor", "__version__", "fit", "load_run", "reword", "trial", "weigh"]
ESTIMATORS = ("VPPClassifier", "VPPRegressor")
"""They need scikit-learn's modules, which take a second to import."""


def __getattr__(name: str) -> Any:
    """The library's front door opens on first use, so that the command line starts at once."""
    if name in ("Posterior", "fit", "load_run", "reword", "trial", "weigh"):
        import vpp.library

        return getattr(vpp.library, name)
    if name in ESTIMATORS:
        import vpp.library.estimators

        return getattr(vpp.library.estimators, name)
    raise AttributeError(f"module 'vpp' has no attribute {name!r}")
