"""The example: penguins, explained by the demo model; live, and the finished run that is shipped."""

from functools import cache

from pages.parts.tables import EXAMPLES
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.runs.preparation import Preparation
from vpp.runs.shipped import EXAMPLE
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

READABLE_MS = 450
"""Demo speed `readable`: how long each answer takes, so that a person can read along."""
SHIPPED = EXAMPLES / EXAMPLE
"""The folder of the finished run."""
_COMMAND = ("run", "assets/examples/penguins.csv", "--target", "species", "--name", "Penguins", "--demo")


@cache
def _penguins() -> Table:
    path = EXAMPLES / "penguins.csv"
    return Table.read(path.read_bytes(), name=path.name)


def _dataset(seed: int) -> Dataset:
    return build_dataset(_penguins(), target="species", split=SplitPlan(seed=seed))


def prepare_live() -> Preparation:
    """SMC, at a pace one can follow."""
    # Without the cache: a second run of the example would be over before it could be read.
    endpoint = EndpointSpec(demo=True, demo_latency_ms=READABLE_MS, model="demo", cache=False)
    return Preparation(dataset=_dataset(0), config=Config(), endpoint=endpoint, name="Penguins", command=_COMMAND)


def prepare_shipped() -> Preparation:
    """SMC, one pass over the rows; of several seeds, one whose sentences end up distinct and divided."""
    config = Config(epochs=1, seed=1)
    return Preparation(
        dataset=_dataset(config.seed),
        config=config,
        endpoint=EndpointSpec(demo=True, model="demo", cache=False),
        name="Penguins",
        command=(*_COMMAND, "--no-cache", "--epochs", "1", "--seed", "1"),
    )
