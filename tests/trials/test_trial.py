"""Trials: sums against a second asking, and clauses that are branches of a program."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from tests.inspected import log_marginal
from tests.processes import Desk, Model
from tests.reporting.builders import SEED, dataset, drawn, finished, run, started
from vpp.data.dataset import Column, Dataset, Row
from vpp.drawing.idea_deck import clause_rows
from vpp.events import hypothesis_id
from vpp.problem import Translation
from vpp.programs.source import read_program
from vpp.runs.asking import Asking
from vpp.runs.journal import AnswerLog
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config
from vpp.trials.trial import Trial, TrialAsking, TrialSize, Wins, clauses, read_trial

NAMES = ("a", "b", "unit_price", "note")
AND = f"{SEED} If a is above 12 and b is below 30, say yes; otherwise say no."
NO_RULE = "No rule is known: give the output that you expect for this input."


def table(n: int = 24) -> Dataset:
    """Rows a = 0 to 23, b = 60 down to 14, a price, and a text; yes for a above 12 and b below 30."""
    cells = [{"a": str(i), "b": str(60 - 2 * i), "unit_price": str(i % 5), "note": f"text {i}"} for i in range(n)]
    rows = tuple(
        Row(id=i, inputs=tuple(each.items()), target="yes" if i > 12 and 60 - 2 * i < 30 else "no")
        for i, each in enumerate(cells)
    )
    columns = tuple(
        Column(name=name, kind="text" if name == "note" else "number", n_missing=0, n_distinct=n) for name in NAMES
    )
    target = Column(name="y", kind="category", n_missing=0, n_distinct=2)
    empty = dataset(["yes", "no"], ["yes"])
    return replace(empty, columns=(*columns, target), inputs=NAMES, train=rows[: n // 2 * 2 - 4], test=rows[-4:])


DATA = table()


def run_of(folder: Path, base_url: str, *texts: str, data: Dataset = DATA, reading: Any = "rows") -> RunReader:
    """A run of particles with these texts, asked at this address."""
    config = Config(method="mh", particles=len(texts), reading=reading)
    endpoint = EndpointSpec(base_url=base_url, model="demo", cache=False)
    events = [started(config, data), *drawn(*texts), finished(0, texts)]
    return run(folder, *events, data=data, config=config, endpoint=endpoint)


def tried(reader: RunReader, folder: Path, size: TrialSize) -> Trial:
    asking = TrialAsking(reader, size)
    found = asyncio.run(asking.go(keys=Keys(), cache_dir=folder / "cache"))
    assert asking.done == asking.total
    return found


@pytest.mark.parametrize("n", range(1, 41))
def test_a_verdict_of_a_trial_is_seldom_luck_and_never_one_rows(n: int) -> None:
    """At a true share of one half both verdicts are wrong. One is given in less than 5 % of the trials."""
    found = [Wins(n=n, wins=k) for k in range(n + 1)]
    at_half = binom.pmf(range(n + 1), n, 0.5)
    assert at_half[[each.sign() != 0 for each in found]].sum() < 0.05
    assert (found[n].sign(), found[0].sign(), found[n].sign(best_of=5)) == (
        n >= 6,
        -(n >= 6),
        n >= 8,
    )  # 10 / 2^8 < 0.05


def test_the_gain_over_no_rule_is_that_of_answers_that_a_second_asking_gives(tmp_path: Path, served: Model) -> None:
    found = tried(run_of(tmp_path, served.base_url, AND), tmp_path, TrialSize(ideas=1, rows=14))
    rows = [row for row in DATA.train if row.id in found.rows]
    again = run_of(tmp_path / "again", served.base_url, AND, f"{SEED} {NO_RULE}")
    answers = asyncio.run(Asking(again.directory, rows).go(keys=Keys(), cache_dir=tmp_path / "none"))
    own, other = (
        [said.value == row.target for said, row in zip(each, rows, strict=True)] for each in answers.predictions
    )
    log_lik, no_rule = (log_marginal(sum(right), right.count(False)) for right in (own, other))
    idea, better = found.ideas[0], [one for one, rival in zip(own, other, strict=True) if one != rival]
    assert (len(rows), found.no_rule) == (14, pytest.approx(no_rule))
    assert (idea.log_likelihood, idea.gain_over_no_rule) == pytest.approx((log_lik, log_lik - no_rule))
    assert (idea.over_no_rule, idea.clauses) == (Wins(n=len(better), wins=sum(better)), ())


def test_clauses_of_a_program_are_its_branches_and_cost_no_call(tmp_path: Path, served: Model) -> None:
    reader = run_of(tmp_path, served.base_url, AND, reading="program")
    code = "def predict(a, b):\n if b >= 30:\n  return 'no'\n if a > 12:\n  return 'yes'\n return 'no'"
    log = AnswerLog(reader.directory.answers)
    log.add_entry(Translation(hypothesis=hypothesis_id(AND), code=code, attempts=1))
    log.close()
    size, before = TrialSize(ideas=1, rows=14), len(served.bodies)
    found = tried(reader, tmp_path, size)
    # Only the learner without a rule is asked: it reads each row itself.
    assert TrialAsking(reader, size).calls == len(served.bodies) - before == 14
    cells = [
        (float(row.inputs[0][1] or 0), float(row.inputs[1][1] or 0), row.target)
        for row in DATA.train
        if row.id in found.rows
    ]
    right = {
        "whole": sum(("yes" if b < 30 and a > 12 else "no") == target for a, b, target in cells),
        "b >= 30: 'no'": sum(("yes" if a > 12 else "no") == target for a, _, target in cells),
        "a > 12: 'yes'": sum(target == "no" for *_, target in cells),
    }
    log_lik = {words: log_marginal(n, 14 - n) for words, n in right.items()}
    assert found.ideas[0].log_likelihood == pytest.approx(log_lik.pop("whole"))
    lost = {each.text: found.ideas[0].log_likelihood - each.log_likelihood_lost for each in found.ideas[0].clauses}
    assert lost == pytest.approx(log_lik)
    assert [words.rpartition(": ")[2] for *_, words in clause_rows(found.ideas[0], found)] == ["undecided"] * 2


PROGRAM = """
def predict(a, b):
    if a > 1:
        if b > 2:
            return "p"
        return "q"
    elif b > 3:
        return "r"
    else:
        for x in (a, b):
            if x == 0:
                return "s"
    return "t"
"""


def test_a_program_without_a_branch_gives_its_rows_to_the_branches_after_it() -> None:
    program = read_program(PROGRAM, ("a", "b"))
    without = {each.text: each.code for each in clauses(program, "A rule.")}
    assert list(without) == ["a > 1 and b > 2: 'p'", "a > 1: 'q'", "b > 3: 'r'", "x == 0: 's'"]
    for code, gone in zip(without.values(), "pqrs", strict=True):
        left = [branch.output.strip("'") for branch in read_program(code, ("a", "b")).branches]
        assert left == [each for each in "pqrst" if each != gone]
    assert "        return 'q'\n    elif" in without["a > 1 and b > 2: 'p'"]
    assert "\n    if b > 3:" not in without["b > 3: 'r'"]
    one = read_program("def predict(a):\n    return 'p'", ("a",))
    assert clauses(one, "A rule.") == clauses(None, "A rule.") == ()


def test_a_trial_is_kept_until_the_run_goes_on(tmp_path: Path, served: Model) -> None:
    reader = run_of(tmp_path, served.base_url, AND)
    view = reader.refresh().view
    assert read_trial(reader.directory, view) is None
    found = tried(reader, tmp_path, TrialSize(ideas=1, rows=2))
    assert read_trial(reader.directory, view) == found
    path = reader.directory.path / "trial.json"
    for content in (json.dumps({**json.loads(path.read_text()), "step": 7}), "[]", "{"):
        path.write_text(content)
        assert read_trial(reader.directory, view) is None


def test_the_command_prints_its_cost_its_result_and_its_json(desk: Desk, served: Model) -> None:
    assert desk.run("run", *served.options).finish().code == 0
    before = len(served.bodies)
    planned = desk.vpp("trial", desk.folder / "run", "--plan")
    assert (planned.code, len(served.bodies)) == (0, before)
    calls = int(re.match(r"([\d,]+) calls", planned.out)[1].replace(",", ""))  # type: ignore[index]
    result = desk.vpp("trial", desk.folder / "run", "--json", "--ideas", "2", "--rows", "10").result
    assert len(served.bodies) - before <= calls
    assert set(result["ideas"][0]) >= {"text", "weight", "clauses", "gain_over_no_rule"}
    assert set(result["ideas"][0]["rows_over_no_rule"]) == {"rate", "low", "high", "n"}
    each = {"text", "log_likelihood_lost", "rows", "finding"}
    assert all(set(clause) == each for idea in result["ideas"] for clause in idea["clauses"])
    assert [idea["weight"] for idea in result["ideas"]] == sorted((i["weight"] for i in result["ideas"]), reverse=True)
    printed = desk.vpp("trial", desk.folder / "run", "--rows", "10")
    assert re.match(r"[\d,]+ calls of the learner", printed.err)
    assert "no rule at all" in printed.out.splitlines()[0]
    assert result["verdict"] == printed.out.splitlines()[0]
    assert "nats over no rule" in printed.out
    refused = desk.vpp("trial", desk.folder / "run", "--rows", "0")
    assert refused.code != 0
    assert "rows is 0: give at least 1" in refused.err
