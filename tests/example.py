"""Makes shipped examples anew: `make example` those of the demo model; with --base-url those of a language model.

    python -m tests.example example-titanic --base-url http://127.0.0.1:8000/v1 --model qwen2.5-coder-1.5b-instruct

The same seed gives the same hypotheses and weights, with the demo model.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path

from pages.parts.opening import SHIPPED
from tests.processes import ROOT
from vpp.runs.directory import RunDirectory
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE

PENGUINS = """run assets/examples/penguins.csv --target species --name Penguins --demo --no-cache
 --epochs 1 --seed 26"""
"""Most seeds end with one heavy hypothesis, this one with two."""
CHAINS = """run assets/examples/penguins.csv --target species --name "Penguins, chains" --demo --no-cache
 --method mh --particles 3 --epochs 1 --seed 2"""
"""Seed 2: every chain rejects some proposals and accepts others."""
TITANIC = "run assets/examples/titanic.csv --target survived --name Titanic --limit optimizer=256 --limit call=3000"
"""The defaults, with the limit of a small model on two cores."""
MESSAGES = """weigh assets/examples/messages.csv --target team --name "Messages to a shop" --reading rows
 --start assets/examples/messages.hunches.txt"""
DEMO: Mapping[str, Sequence[str]] = {EXAMPLE: shlex.split(PENGUINS), CHAINS_EXAMPLE: shlex.split(CHAINS)}
"""Arguments that make each run, by its id."""
REAL: Mapping[str, Sequence[str]] = {REAL_EXAMPLE: shlex.split(TITANIC), TEXT_EXAMPLE: shlex.split(MESSAGES)}
"""The same; the server's are added."""
TRIAL = "trial.json"
SHIPPED_FILES = ("run.json", "data.csv", "events.jsonl", "summary.json")
"""Files of every shipped run; one may have results of later commands beside them."""


def make(folder: Path, example: str, endpoint: Sequence[str] = ()) -> RunDirectory:
    """Make an example's run, finished, in an existing folder. The language model's run is put on trial as well."""
    command = tuple(DEMO[example] if example in DEMO else (*REAL[example], *endpoint))
    run = RunDirectory(folder / example)
    vpp(*command, "--run-dir", str(run.path))
    run.amend(command=command)
    if example == REAL_EXAMPLE:
        vpp("trial", str(run.path))
    return run


def vpp(*arguments: str) -> None:
    """Run a command in the repository's root. Raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "vpp", *arguments], cwd=ROOT, check=True, stdout=sys.stderr)


def main(arguments: Sequence[str]) -> None:
    parser = ArgumentParser(prog="python -m tests.example", description=__doc__)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="those of the demo model, or of the server")
    parser.add_argument("--base-url", default="", help="address of a language model's server")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct")
    given = parser.parse_args(arguments)
    endpoint = ("--base-url", given.base_url, "--model", given.model) if given.base_url else ()
    for example in given.examples or (REAL if endpoint else DEMO):
        with tempfile.TemporaryDirectory() as folder:
            run = make(Path(folder), example, endpoint)
            shipped = SHIPPED.with_name(example)
            shutil.rmtree(shipped, ignore_errors=True)
            shipped.mkdir()
            for name in (*SHIPPED_FILES, TRIAL):
                if (run.path / name).exists():
                    shutil.copyfile(run.path / name, shipped / name)


if __name__ == "__main__":
    main(sys.argv[1:])
