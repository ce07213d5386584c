"""The one line that a check of servers ends with."""

import pytest

from vpp.findings.status import Verdict, verdict
from vpp.llm.check import Finding, Mark, Role
from vpp.runs.session import Checked

BOTH: tuple[Role, ...] = ("learner", "optimizer")


def checked(name: str, mark: Mark, words: str = "", *, model: str = "m", **values: object) -> Checked:
    finding = Finding(name=name, mark=mark, words=words, values=values)
    return Checked(roles=BOTH, base_url="http://h/v1", model=model, finding=finding)


ANSWERS = checked("answers", "works")


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([ANSWERS, checked("seed", "note")], Verdict("works", "A run can begin.")),
        ([checked("key", "fails", "key refused")], Verdict("fails", "A run cannot begin: key: key refused")),
        (
            [checked("models", "note", model="")],
            Verdict("fails", "A run cannot begin: no model is named for the learner and optimizer."),
        ),
        (
            [ANSWERS, checked("learner prompt", "works"), checked("optimizer prompt", "note", "…", mend="try another")],
            Verdict("note", "A run can begin, but answers could not be read (optimizer prompt): try another."),
        ),
        (
            [ANSWERS, checked("learner prompt", "note", "not answered: HTTP 500")],
            Verdict("note", "A run can begin, but the learner prompt was not answered: HTTP 500"),
        ),
        (
            [ANSWERS, checked("not tried", "note", untried=["optimizer prompt", "seed"])],
            Verdict("note", "A run can begin, but whether the optimizer prompt can be read was not tried."),
        ),
    ],
)
def test_a_check_ends_with_what_it_comes_to(checks: list[Checked], expected: Verdict) -> None:
    assert verdict(checks) == expected
