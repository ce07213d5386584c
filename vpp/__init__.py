"""Verbalized Particle Posterior: Bayesian inference over hypotheses written in plain language."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vpp.library.estimators import VPPClassifier, VPPRegressor
    from vpp.library.posterior import Posterior, fit, load_run, trial, weigh

__version__ = "0.1.0"
__all__ = ["Posterior", "VPPClassifier", "VPPRegressor", "__version__", "fit", "load_run", "trial", "weigh"]
ESTIMATORS = ("VPPClassifier", "VPPRegressor")
"""They need scikit-learn's modules, which take a second to import."""


def __getattr__(name: str) -> Any:
    """Open the library on first use, so that the command line starts immediately."""
    if name not in __all__:
        raise AttributeError(f"module 'vpp' has no attribute {name!r}")
    return getattr(import_module(f"vpp.library.{'estimators' if name in ESTIMATORS else 'posterior'}"), name)
