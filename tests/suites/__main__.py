"""`python -m tests.suites DIR --demo -o FOLDER`: run a suite's tables, and count how often the true rule is found.

Options that are not named here are those of `vpp run`; there are 200 test rows by default. The same command continues
where it was stopped.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from tests.markdown import table
from tests.suites.discovery import discover, known_discovery
from tests.suites.suite import SuiteTable, read_suite, run_table
from vpp.cli.system import environment, keys
from vpp.inspection.baselines import baselines
from vpp.runs.directory import RunDirectory, load_dataset

HEAD = ("table", "seeds", "on test rows", "rule found", "answers alike", "calls a run")


def cell(given: SuiteTable, seed: int, folder: Path, words: Sequence[str]) -> dict[str, Any]:
    """Run one table with one seed; judge the heaviest idea where the true rule is known."""
    path = folder / f"{given.name}-{seed}"
    result, run = run_table(given, path, [*words, "--seed", str(seed)]), RunDirectory(path)
    found = known_discovery(run) if given.rule else None
    if given.rule and not found:
        found = asyncio.run(discover(run, given.rule, keys=keys(), cache_dir=environment().cache_dir))
    simple = baselines(load_dataset(run, run.spec())).models
    return {
        "table": given.name,
        "seed": seed,
        "truth": given.sentences,
        "heaviest": found and found.text,
        "rule_found": found and found.is_found,
        "combinations": found and found.n,
        "answered_alike": found and found.n_equal,
        "metric": result["metric"],
        "calls": result["calls"],
        "baselines": {model.name: model.score.value for model in simple},
    }


def line(cells: Sequence[dict[str, Any]], simple: Sequence[str]) -> list[str]:
    """Means of a table over its seeds."""
    judged = [each for each in cells if each["combinations"]]
    alike = [each["answered_alike"] / each["combinations"] for each in judged]
    return [
        cells[0]["table"],
        str(len(cells)),
        mean([each["metric"]["test"] for each in cells]),
        f"{sum(each['rule_found'] for each in judged)} of {len(judged)}" if judged else "–",
        mean(alike),
        f"{fmean(each['calls']['learner'] + each['calls']['optimizer'] for each in cells):,.0f}",
        *(mean([each["baselines"][name] for each in cells if name in each["baselines"]]) for name in simple),
    ]


def mean(shares: Sequence[float]) -> str:
    """`83.5 ± 0.3 %`: mean and sample standard deviation."""
    if not shares:
        return "–"
    spread = f" ± {100 * stdev(shares):.1f}" if len(shares) > 1 else ""
    return f"{100 * fmean(shares):.1f}{spread} %"


def main(words: Sequence[str] | None = None) -> None:
    """Run all, print a line a table, and write every cell as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the runs and of results.json")
    parser.add_argument("--tables", help="some of the suite's tables, by name (all)")
    parser.add_argument("--seeds", type=int, default=3)
    options, more = parser.parse_known_args(words)
    tables = read_suite(options.suite.resolve())
    chosen = [tables[name] for name in (options.tables.split(",") if options.tables else tables)]
    for each in chosen:
        _ = each.rule  # an unreadable one is reported before any call
    options.output.mkdir(parents=True, exist_ok=True)
    cells: list[dict[str, Any]] = []
    for seed in range(options.seeds):
        for each in chosen:
            cells.append(cell(each, seed, options.output.resolve(), ["--test-size", "200", *more]))
            print(json.dumps(cells[-1], ensure_ascii=False), file=sys.stderr, flush=True)
            (options.output / "results.json").write_text(json.dumps(cells, ensure_ascii=False, indent=1))
    simple = list(dict.fromkeys(name for each in cells for name in each["baselines"]))
    rows = [line([each for each in cells if each["table"] == given.name], simple) for given in chosen]
    print("\n".join(table([*HEAD, *simple], rows)))


if __name__ == "__main__":
    main()
