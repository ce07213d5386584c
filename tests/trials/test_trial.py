"""Trials: changed rows against programs written by hand, sums against a second asking, a learner that disobeys."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binom

from tests.inspected import log_marginal, run_of
from tests.llm.stub import Reply, Request
from tests.processes import Desk, Model, served_by_thread
from tests.reporting.builders import SEED, table
from vpp.data.dataset import Dataset, Kind, Row
from vpp.events import hypothesis_id
from vpp.findings.asking import FOLLOWS, Obeyed, Trial, clause_rows, read_trial
from vpp.problem import Translation
from vpp.programs.source import read_program
from vpp.runs.asking import Asking
from vpp.runs.directory import Journal, RunReader
from vpp.runs.spec import Keys
from vpp.trials import Change, TrialAsking, changes, clauses

AND = f"{SEED} If a is above 12 and b is below 30, say yes; otherwise say no."
A_ONLY = f"{SEED} If a is above 12, say yes; otherwise say no."
NO_RULE = "No rule is known: give the output that you expect for this input."


N = 24
CELLS: dict[str, tuple[Kind, list[str]]] = {
    "a": ("number", [str(i) for i in range(N)]),
    "b": ("number", [str(60 - 2 * i) for i in range(N)]),
    "unit_price": ("number", [str(i % 5) for i in range(N)]),
    "note": ("text", [f"text {i}" for i in range(N)]),
}
DATA = table(CELLS, ["yes" if i > 12 and 60 - 2 * i < 30 else "no" for i in range(N)], n_train=N - 4)


def try_out(reader: RunReader, folder: Path, **sizes: int) -> Trial:
    asking = TrialAsking(reader, **sizes)
    found = asyncio.run(asking.go(keys=Keys(), cache_dir=folder / "cache"))
    assert asking.done == asking.total
    return found


def by_hand(row: Row) -> str:
    cells = dict(row.inputs)
    return "yes" if float(cells["a"] or 0) > 12 and float(cells["b"] or 0) < 30 else "no"


def changes_of(text: str = AND, n: int = 30, data: Dataset = DATA) -> tuple[Change, ...]:
    return changes(text, data, n=n, seed=0, number=0, first_id=100, sentence=text.removeprefix(SEED))


def test_changes_of_a_plain_rule_are_those_that_a_program_by_hand_demands() -> None:
    found = changes_of()
    must, stay = ([each for each in found if each.must_change == is_must] for is_must in (True, False))
    assert len(must) >= 20
    assert len(stay) >= 20
    assert [each.row.id for each in found] == list(range(100, 100 + len(found)))
    for each in found:
        differing = [name for name, cell in each.base.inputs if dict(each.row.inputs)[name] != cell]
        assert differing == [each.column]
        assert each.base in DATA.train  # copies of test rows may become training rows
        assert each.row.target is None
    assert all(each.expected == (by_hand(each.base), by_hand(each.row)) for each in must)
    assert all(by_hand(each.base) != by_hand(each.row) for each in must)
    assert {each.column for each in must} <= {"a", "b"}
    assert {each.column for each in stay} == {"unit_price"}
    assert found == changes_of()
    assert len({each.row.inputs for each in must}) == len(must)


def test_obeying_means_the_demanded_answers_or_an_unchanged_one() -> None:
    must, stay = changes_of()[0], changes_of()[-1]
    assert must.expected is not None
    before, after = must.expected
    assert must.is_obeyed(before, after)
    assert not must.is_obeyed(after, after)
    assert not must.is_obeyed(before, None)
    assert stay.is_obeyed("yes", "yes")
    assert not stay.is_obeyed("yes", "no")
    numbers = replace(must, expected=(1.0, 2.5))
    assert numbers.is_obeyed(1.0, 2.5 + 1e-13)
    assert not numbers.is_obeyed(1.0, 2.6)


@pytest.mark.parametrize("n", range(1, 41))
def test_a_verdict_of_a_trial_is_seldom_luck_and_never_one_rows(n: int) -> None:
    """If 70 % is the true share, no verdict is right: each wrong one occurs in at most 6 % of the trials."""
    found = [Obeyed(n=n, obeyed=k) for k in range(n + 1)]
    at_bar, at_half = (binom.pmf(range(n + 1), n, share) for share in (FOLLOWS, 0.5))
    assert all(at_bar[[each.follows == verdict for each in found]].sum() < 0.06 for verdict in (-1, 1))
    assert at_half[[each.sign() != 0 for each in found]].sum() < 0.05
    assert (found[n].sign(), found[0].sign(), found[n].sign(best_of=5)) == (
        n >= 6,
        -(n >= 6),
        n >= 8,
    )  # 10 / 2^8 < 0.05
    assert found[n].follows == (n >= 9)  # Wilson: 5 of 5 is 57 to 100 %


def test_the_gain_over_no_rule_is_that_of_answers_that_a_second_asking_gives(tmp_path: Path, served: Model) -> None:
    found = try_out(run_of(tmp_path, served, AND, data=DATA), tmp_path, ideas=1, changes=2, rows=14)
    rows = [row for row in DATA.train if row.id in found.rows]
    again = run_of(tmp_path / "again", served, AND, f"{SEED} {NO_RULE}", data=DATA)
    answers = asyncio.run(Asking(again, rows).go(keys=Keys(), cache_dir=tmp_path / "none"))
    own, other = (
        [said.value == row.target for said, row in zip(each, rows, strict=True)] for each in answers.predictions
    )
    log_lik, no_rule = (log_marginal(sum(right), right.count(False)) for right in (own, other))
    idea, better = found.ideas[0], [one for one, rival in zip(own, other, strict=True) if one != rival]
    assert (len(rows), found.no_rule) == (14, pytest.approx(no_rule))
    assert (idea.log_likelihood, idea.gain_over_no_rule) == pytest.approx((log_lik, log_lik - no_rule))
    assert (idea.over_no_rule, idea.clauses) == (Obeyed(n=len(better), obeyed=sum(better)), ())


def test_clauses_of_a_program_are_its_branches_and_cost_no_call(tmp_path: Path, served: Model) -> None:
    reader = run_of(tmp_path, served, AND, reading="program", data=DATA)
    code = "def predict(a, b):\n if b >= 30:\n  return 'no'\n if a > 12:\n  return 'yes'\n return 'no'"
    log = Journal(reader.directory.journal)
    log.add_entry(Translation(hypothesis=hypothesis_id(AND), code=code, attempts=1))
    log.close()
    before = len(served.bodies)
    found = try_out(reader, tmp_path, ideas=1, changes=2, rows=14)
    # Only the learner without a rule is asked: it reads each row itself.
    assert TrialAsking(reader, ideas=1, changes=2, rows=14).calls == len(served.bodies) - before == 14
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


class Disobedient(Model):
    """The demo model, except that rows whose cell of a column is divisible by 3 get the other label."""

    def __init__(self, column: str) -> None:
        super().__init__()
        self._cell = re.compile(rf"(?m)^{column}: (\d+)$")

    async def behave(self, request: Request) -> Reply | None:
        reply = await super().behave(request)
        said = str(request.body["messages"][-1]["content"]) if "messages" in request.body else ""
        found = self._cell.search(said)
        if reply is None or found is None or int(found[1]) % 3:
            return reply
        answer = json.loads(reply.body)
        message = answer["choices"][0]["message"]
        swapped = {"yes": "no", "no": "yes"}
        message["content"] = re.sub(r"Output: (yes|no)", lambda m: f"Output: {swapped[m[1]]}", message["content"])
        return replace(reply, body=json.dumps(answer).encode())


@pytest.mark.parametrize("column", ["a", "unit_price"])
def test_a_learner_that_disobeys_is_caught_exactly_where_it_does(tmp_path: Path, column: str) -> None:
    with served_by_thread(Disobedient(column)) as disobedient:
        found = try_out(run_of(tmp_path, disobedient, AND, data=DATA), tmp_path, ideas=1, changes=30, rows=4)
    asked = changes(AND, DATA, n=30, seed=0, number=0, first_id=DATA.next_id, sentence=AND.removeprefix(SEED).strip())

    def turned(row: Row) -> bool:
        return int(dict(row.inputs)[column] or 0) % 3 == 0

    must, stay = ([each for each in asked if each.must_change is kind] for kind in (True, False))
    idea = found.ideas[0]
    assert (idea.must_change.n, idea.must_stay.n) == (len(must), len(stay))
    assert stay
    assert idea.must_change.obeyed == sum(not turned(each.base) and not turned(each.row) for each in must)
    assert 0 < idea.must_change.obeyed < len(must)
    # A label that is turned on both rows stays; only a learner that looks at the price can break it.
    assert idea.must_stay.obeyed == sum(turned(each.base) is turned(each.row) for each in stay)
    assert (idea.must_stay.obeyed < len(stay)) is (column == "unit_price")


def test_a_trial_is_kept_until_the_run_goes_on(tmp_path: Path, served: Model) -> None:
    reader = run_of(tmp_path, served, AND, data=DATA)
    view = reader.refresh().view
    assert read_trial(reader.directory, view) is None
    found = try_out(reader, tmp_path, ideas=1, changes=2, rows=2)
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
    assert set(result["ideas"][0]) >= {"text", "weight", "must_change", "clauses", "gain_over_no_rule"}
    assert set(result["ideas"][0]["must_change"]) == {"n", "obeyed"}
    each = {"text", "log_likelihood_lost", "rows", "finding"}
    assert all(set(clause) == each for idea in result["ideas"] for clause in idea["clauses"])
    assert [idea["weight"] for idea in result["ideas"]] == sorted((i["weight"] for i in result["ideas"]), reverse=True)
    printed = desk.vpp("trial", desk.folder / "run", "--rows", "10")
    assert re.match(r"[\d,]+ calls of the learner", printed.err)
    assert "The model obeys the heaviest hypothesis" in printed.out
    assert result["verdict"].replace("\N{NO-BREAK SPACE}", " ") == printed.out.splitlines()[0]
    assert "improvement over no rule" in printed.out
    refused = desk.vpp("trial", desk.folder / "run", "--rows", "0")
    assert refused.code != 0
    assert "rows is 0: give at least 1" in refused.err
