"""Complete runs of the real samplers on the scripted world, on disk; no server is asked."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from tests.verification.kept import kept_run
from vpp.runs.reader import RunReader
from vpp.settings import Config

SMALL = {"reading": "rows", "epsilon": "0.05", "particles": 4, "batch_size": 4, "epochs": 1, "buffer_size": 8}
VARIANTS: dict[str, Config] = {
    "smc": Config(**SMALL),
    "smc filtered": Config(**{**SMALL, "epsilon": "auto"}, mutate="filtered"),
    "incremental": Config(**SMALL, tempering="incremental", final_weights="paper"),
    "adaptive": Config(**SMALL, tempering="adaptive", final_weights="paper", restart=0.5),
    "mh": Config(**SMALL, method="mh", restart=0.5),
    "mh on train": Config(**SMALL, method="mh", mh_rows="train", restart=1.0),
    "mh on buffer": Config(**SMALL, method="mh", mh_rows="buffer", final_weights="paper"),
    "always accept": Config(**SMALL, method="always-accept"),
    "vml": Config(**SMALL, method="vml"),
    "vml5": Config(**SMALL, method="vml5"),
}
"""Every method, and every option that changes what there is to show."""


_FOLDER = TemporaryDirectory(prefix="vpp-sampled-")
"""Removed at the end of the process."""


@cache
def sampled_run(name: str, task: str = "classification") -> RunReader:
    """The finished run of a variant, shared by the tests of a process, which only read it."""
    return sampled(Path(mkdtemp(dir=_FOLDER.name)), VARIANTS[name], task=task)


def sampled(folder: Path, config: Config, *, task: str = "classification", **script: Any) -> RunReader:
    """A finished run of its own. script: changes of the scripted model."""
    return RunReader(kept_run(folder / "20260110-1432-toy-smc-7f3a", config, task, **script)[0])
