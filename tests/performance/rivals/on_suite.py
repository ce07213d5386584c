"""`make rivals SUITE=DIR BASE_URL=URL MODEL=NAME`: GEPA, HypoGeniC and this product on a suite, by one model.

All get the same rows. This product runs first; the others get as many calls as it needed to learn. Everyone answers
the test rows on top of them. Options that are not named here are those of `vpp run`. Answers are kept beside the
output: the same command goes on where it was stopped.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import vpp
from tests.markdown import table
from tests.performance.stub import ROOT
from tests.suites.suite import SuiteTable, read_suite, run_table
from vpp.llm.rendering import render_input

HERE = Path(__file__).parent
LIB = ROOT / ".rivals" / "lib"
SCRIPTS = {"GEPA": "gepa_on_rows.py", "HypoGeniC": "hypogenic_on_rows.py"}
WITHIN_S = 14_400


def ours(given: SuiteTable, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run this product on a table; return its share of right test rows, its calls to learn and its best text."""
    words = ["--train-size", str(options.train_size), "--test-size", str(options.test_size)]
    words += ["--demo"] if options.demo else ["--base-url", options.base_url, "--model", options.model]
    result = run_table(given, folder / given.name, [*words, *options.more])
    tested = result["n_unique"] * result["scores"]["test"]["n"]
    calls = {"learner": result["calls"]["learner"] - tested, "optimizer": result["calls"]["optimizer"]}
    text = vpp.load_run(result["dir"]).ideas[0].wordings[0].text
    return {"test": result["metric"]["test"], "calls": calls, "text": text}


def job(given: SuiteTable, own: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Return the rows of a table as texts, and the calls that a rival may use."""
    dataset = given.dataset(seed=0, train_size=options.train_size, test_size=options.test_size)
    meanings = " ".join(f"{name}: {text}." for name, text in dataset.descriptions.columns)
    parts = {"train": dataset.train, "test": dataset.test}
    return {
        **{part: [{"text": render_input(row), "label": row.target} for row in rows] for part, rows in parts.items()},
        "labels": list(dataset.classes),
        "about": f"A row of a table is given; the label is its {dataset.target}. {meanings}",
        "base_url": options.base_url,
        "model": options.model,
        "key": os.environ.get("OPENAI_API_KEY", ""),
        "calls": sum(own["calls"].values()),
    }


def rival(script: str, given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a rival; return its result, or why there is none."""
    path, log = folder / "job.json", folder / "log"
    path.write_text(json.dumps(given))
    environment = {**os.environ, "PYTHONPATH": str(LIB)}
    with log.open("ab") as errors:
        words = [sys.executable, str(HERE / script), str(path)]
        try:
            done = subprocess.run(
                words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, timeout=WITHIN_S, check=True
            )
            result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        except (subprocess.SubprocessError, ValueError, IndexError) as error:
            return {"fault": f"{type(error).__name__}; {log.read_text(errors='replace').strip()[-300:]}"}
    return result


def shown(result: dict[str, Any]) -> str:
    """`99.5 % (1,200 calls)`, or that it failed."""
    return f"{100 * result['test']:.1f} % ({sum(result['calls'].values()):,} calls)" if "test" in result else "failed"


def main() -> None:
    """Run all, print a table, and write every result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", required=True)
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--demo", action="store_true", help="this product alone on the demo model")
    parser.add_argument("--tables", help="some of the suite's tables, by name (all)")
    parser.add_argument("--train-size", type=int, default=100)
    parser.add_argument("--test-size", type=int, default=200)
    parser.add_argument("-o", "--output", default="rivals.json")
    options, options.more = parser.parse_known_args()
    if not options.demo and not (options.base_url and options.model):
        parser.error("give --base-url and --model")
    tables = read_suite(Path(options.suite))
    results: list[dict[str, Any]] = []
    chosen = options.tables.split(",") if options.tables else list(tables)
    with tempfile.TemporaryDirectory() as name:
        for each in chosen:
            own = ours(tables[each], options, Path(name))
            given, kept = job(tables[each], own, options), Path(f"{options.output}.answers")
            kept.mkdir(parents=True, exist_ok=True)
            others = {
                who: rival(script, {**given, "answers": str(kept.absolute() / f"{each}-{who}.jsonl")}, Path(name))
                for who, script in ({} if options.demo else SCRIPTS).items()
            }
            results.append({"table": each, "this product": own, **others})
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
            Path(options.output).write_text(json.dumps(results, indent=1))
    names = ("this product", *(() if options.demo else SCRIPTS))
    rows = [[each["table"], *(shown(each[who]) for who in names)] for each in results]
    print("\n".join(table(["table", *names], rows)))


if __name__ == "__main__":
    main()
