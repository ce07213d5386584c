"""The shipped example: penguins, explained by the demo model."""

from functools import cache

from pages.parts.tables import EXAMPLES
from vpp.data.build import build_dataset
from vpp.data.table import Table
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

READABLE_MS = 450
"""Demo speed `readable`: how long each answer takes, so that a person can read along."""


@cache
def _penguins() -> Table:
    path = EXAMPLES / "penguins.csv"
    return Table.read(path.read_bytes(), name=path.name)


def prepare_example(*, instant: bool = False) -> Preparation:
    """SMC on penguins, at a pace one can follow unless it shall be instant."""
    dataset = build_dataset(_penguins(), target="species")
    # Without the cache: a second run of the example would be over before it could be read.
    endpoint = EndpointSpec(demo=True, demo_latency_ms=0 if instant else READABLE_MS, model="demo", cache=False)
    command = ("run", "assets/examples/penguins.csv", "--target", "species", "--demo")
    return Preparation(dataset=dataset, config=Config(), endpoint=endpoint, command=command)
