"""Refused proposals are shown apart from unreadable ones wherever either appears."""

from dataclasses import replace
from pathlib import Path

from tests.findings.test_step import maker, words
from tests.reporting.builders import SEED, USAGE, YES_NO, drawn, finished, proposed, run, scored, started
from vpp.events import Event
from vpp.findings.progress import calls_metric
from vpp.findings.result import result, summary
from vpp.findings.ruled_out import ruled_out, ruled_out_lines
from vpp.reporting.document import report_markdown
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.show.render import html, lines

A = f"{SEED} Always yes."
REASON = "it gives 'maybe', which is no label of this table: give one of no, yes"
CONFIG = Config(particles=6, epochs=1, batch_size=4, mutate="filtered")


def no_text(slot: int, reason: str, *, refused: bool) -> Event:
    return proposed(0, slot, A, None, why="unparsable", reason=reason, refused=refused, log_alpha=None, u=None,
                    log_likelihood=None, log_likelihood_proposal=None, raw="Sorry.")  # fmt: skip


def made(folder: Path, *, refused: int, unreadable: int) -> RunReader:
    """Six particles with one text; the proposals for the first were refused, those for the next unreadable."""
    proposals = [no_text(k, REASON, refused=True) for k in range(refused)]
    proposals += [no_text(refused + k, "the answer is empty", refused=False) for k in range(unreadable)]
    texts = [A] * 6
    scores = [scored(0, k, A, {0: "yes", 1: "no"}) for k in range(6)]
    events = (started(CONFIG, YES_NO, steps=1), *drawn(*texts), *scores, *proposals, finished(0, texts))
    return run(folder, *events, config=CONFIG, usage=replace(USAGE, refused=3 * refused, contradictory=7))


def test_cards_and_ledger_say_that_a_proposal_was_refused_and_why(tmp_path: Path) -> None:
    reader = made(tmp_path, refused=1, unreadable=1)
    said = words(maker(reader).at(0))
    assert "rewrite refused: prompt and answer" in said
    assert "rewrite unreadable: prompt and answer" in said
    assert all(reason in said for reason in (REASON, "the answer is empty"))
    entries = ruled_out(reader.refresh().view, YES_NO)
    lines = [ruled_out_lines(entries, seed_text=SEED, opened=place).items[place] for place in range(2)]
    assert {line.status for line in lines} == {"refused", "unreadable"}
    assert any("which is no label of this table" in html(line.details) for line in lines)


def test_counts_of_both_are_shown_apart(tmp_path: Path) -> None:
    reader = made(tmp_path, refused=2, unreadable=1)
    snapshot = reader.refresh()
    strip = calls_metric(snapshot).words
    assert "2 answers not readable, 6 answers refused as no rule;" in strip
    assert "6 answers were refused as no rule for this table" in " ".join(
        lines(summary(reader.directory, snapshot.view))
    )
    assert result(reader.directory, snapshot.view)["calls"]["refused"] == 6
    report = report_markdown(reader)
    assert (
        "6 answers were refused as no rule for this table. The model was asked again, up to twice a proposal." in report
    )
    assert "7 answers contradict their own explanation: the learner may not follow its own reading of a rule." in report
