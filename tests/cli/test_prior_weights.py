"""`weigh --prior`: prior weights of the sentences, through real processes and the demo model."""

import json
import math

import pytest
from scipy.special import betaln

from tests.inspected import log_marginal
from tests.processes import Desk, Model, Outcome, beside_the_constant
from vpp.events import Evaluated
from vpp.findings.result import summary
from vpp.library.posterior import Posterior
from vpp.reporting.exports import data_tree
from vpp.runs.journal import JournalReader, RunReader
from vpp.show.markup import lines, one_line
from vpp.show.words import percent

SIZES = (4, 7, 8, 9, 2, 7, 1, 4, 9, 2, 8, 5)
TABLE = "a,b,label\n" + "".join(f"{a},{a % 3},{'yes' if a > 6 else 'no'}\n" for a in SIZES)
SENTENCES = (
    "Say yes if a is above 6, else no.",
    "Say yes if a is above 3, else no.",
    "The label is <script>alert(1)</script> **always** [yes](x).",
)


@pytest.fixture
def table(desk: Desk) -> Desk:
    """A folder with a table of twelve rows and a file of four sentences. The last repeats the first."""
    (desk.folder / "table.csv").write_text(TABLE)
    (desk.folder / "mine.txt").write_text("\n\n".join((*SENTENCES, SENTENCES[0])))
    return desk


def weigh(desk: Desk, served: Model, *words: str, name: str = "weighed") -> Outcome:
    where = ("--reading=rows", "--run-dir", desk.folder / name, "--no-cache", "--json", "--quiet")
    return desk.vpp("weigh", "table.csv", "--target=label", "--start=mine.txt", *served.options, *where, *words)


def by_hand(desk: Desk, name: str, prior: tuple[float, ...]) -> tuple[list[float], list[float], float]:
    """Weights, log-likelihoods and log-evidence from the recorded answers to all rows."""
    events = [record.event for record in JournalReader(desk.directory(name).journal).new_records()]
    (said,) = [event for event in events if isinstance(event, Evaluated)]
    target = {row.id: row.target for row in RunReader(desk.directory(name)).dataset().train}
    log_liks = [
        log_marginal(right := sum(vote == target[row] for row, vote in zip(said.rows, votes, strict=True)), 12 - right)
        for votes in said.predictions
    ]
    joint = [share * math.exp(each) for share, each in zip(prior, log_liks, strict=True)]
    return [each / sum(joint) for each in joint], log_liks, math.log(sum(joint))


@pytest.mark.parametrize(("words", "prior"), [((), (1 / 3, 1 / 3, 1 / 3)), (("--prior=1,2,5",), (1 / 8, 2 / 8, 5 / 8))])
def test_weights_and_evidence_are_the_sum_over_the_list(
    words: tuple[str, ...], prior: tuple[float, ...], table: Desk, served: Model
) -> None:
    outcome = weigh(table, served, *words)
    assert outcome.code == 0, outcome.err
    weights, log_liks, evidence = by_hand(table, "weighed", prior)
    assert beside_the_constant(outcome.result) == pytest.approx(weights)
    assert outcome.result["log_likelihoods"] == pytest.approx(log_liks)
    assert outcome.result["log_evidence"] == pytest.approx(evidence)
    # Half of the prior is the constant's: the labels as often as they occur, their shares integrated out.
    constant = outcome.result["constant"]
    assert constant["log_likelihood"] == pytest.approx(betaln(6 + 1, 6 + 1), rel=1e-12)
    odds = math.exp(constant["log_likelihood"] - evidence)
    assert constant["weight"] / (1 - constant["weight"]) == pytest.approx(odds, rel=1e-9)
    assert outcome.result["evidence"]["label"] == "exact"
    assert outcome.result["calls"]["optimizer"] == 0
    assert outcome.result["calls"]["learner"] == served.answered == 36
    assert len(set(log_liks)) == 3
    assert table.vpp("verify", table.folder / "weighed").code == 0
    report = (table.folder / "weighed" / "report.md").read_text()
    assert f"{'The given' if words else 'Equal'} prior weights times the likelihood of all 12 rows; a " in report
    directory = table.directory("weighed")
    notes = RunReader(directory).dataset().provenance.notes
    assert "of the sentences, these repeat earlier ones and count once: 4" in notes
    content = json.loads((directory.path / "posterior.json").read_text())
    of_particles = [each["prior"] for each in content["particles"]]
    of_sentences = dict(zip(outcome.result["sentences"], prior, strict=True))
    assert outcome.result["priors"] == of_particles == pytest.approx(list(prior))
    assert data_tree(RunReader(directory)).sample_stats.prior.values[0] == pytest.approx(prior)
    held = {each.text: each.prior for each in Posterior(directory).particles}
    assert held == pytest.approx(of_sentences)
    terminal = " ".join(lines(summary(directory, RunReader(directory).refresh().view)))
    for share in prior:
        facts = one_line(f"prior {percent(share)}")
        assert (facts in report.lower(), f", {facts} " in str(Posterior(directory))) == (True, True)
        assert one_line(percent(share, 1)) in terminal
    assert "alert(1)" in report
    assert "<script>" not in report.replace("\\<script>", "")


def test_a_changed_prior_is_found_by_verify(table: Desk, served: Model) -> None:
    assert weigh(table, served, "--prior=1,2,5").code == 0
    assert "has no test rows" in table.vpp("baseline", table.folder / "weighed").complaint
    spec = table.folder / "weighed" / "run.json"
    spec.write_text(spec.read_text().replace("0.625", "0.5"))
    outcome = table.vpp("verify", table.folder / "weighed")
    assert (outcome.code, "log_weight" in outcome.out) == (1, True)


@pytest.mark.parametrize("given", ["1,2", "1,2,0", "1,2,-1", "1,2,inf", "1,2,nan"])
def test_a_prior_that_fits_no_list_is_refused(given: str, table: Desk, served: Model) -> None:
    assert "prior: give a positive number for each sentence" in weigh(table, served, f"--prior={given}").complaint
