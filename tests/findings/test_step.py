"""A run in words and cards: phase by phase, while it goes, in a list of runs, and by the check of its servers."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import unescape
from itertools import product
from pathlib import Path

import pytest

from tests.inspected import BIG, EVEN, LABELS, ODD, labels, plain
from tests.processes import ROOT
from tests.reporting.builders import (
    DEMO,
    SEED,
    USAGE,
    YES_NO,
    drawn,
    finished,
    folded,
    proposed,
    reweighted,
    run,
    scored,
    started,
    view_of,
)
from tests.sampled import VARIANTS, sampled_run
from vpp.events import Event, RunFinished, RunPaused, Usage
from vpp.findings.progress import activity_words, calls_metric, health, pace
from vpp.findings.result import result, summary
from vpp.findings.ruled_out import ruled_out, ruled_out_lines
from vpp.findings.status import Listed, distinguished, finish_words, listed, pending_words, retry_words, verdict
from vpp.findings.step import Cards, Names, accuracies, accuracy_curve, ess_curve, happened, particles_of, phases
from vpp.llm.check import Finding, Mark
from vpp.reporting.document import report_markdown
from vpp.runs.budget import demo_pace, plan_of, time_s
from vpp.runs.directory import Record, RunDirectory, RunReader, Snapshot, State, read_summary
from vpp.runs.spec import RunSpec
from vpp.runs.store import EXAMPLES
from vpp.runs.view import ess_of_sentences
from vpp.settings import Config
from vpp.show.blocks import Card, Deck
from vpp.show.markup import html, lines
from vpp.show.words import NBSP, seconds

TASKS = ("classification", "regression")


def cards_of(reader: RunReader) -> Callable[..., list[Card]]:
    """Return a function of a step and a phase."""
    snapshot = reader.refresh()
    return partial(Cards(reader.dataset(), snapshot.spec.config).at, Names(snapshot.view))


def words(cards: list[Card]) -> str:
    """Return the words of the marks, scores and folds of some cards."""
    written = [mark for card in cards for _, mark in card.marks] + [fact for card in cards for fact in card.facts]
    return "\n".join([*written, *(unescape(html(card.folds)) for card in cards)])


@pytest.mark.parametrize(("name", "task"), [*product(VARIANTS, TASKS), *((name, "") for name in EXAMPLES)])
def test_every_phase_has_each_particle_on_one_card_and_all_of_the_weight(name: str, task: str) -> None:
    """Texts that answer alike share a card. It stays when the text it shows is dropped and another is copied."""
    reader = sampled_run(name, task) if task else RunReader(RunDirectory(ROOT / "assets/examples" / name))
    view, cards_at, is_weighted = reader.refresh().view, cards_of(reader), reader.refresh().spec.config.is_weighted
    for step, at in view.steps.items():
        for phase in phases(at):
            cards = cards_at(step, phase)
            assert sum(card.copies for card in cards) == (view.size if at.scores else 0)
            assert len({card.key for card in cards}) == len(cards)
            assert [card.bar for card in cards] == sorted((card.bar for card in cards), reverse=True)
            if is_weighted and at.scores:
                assert sum(card.bar for card in cards) == pytest.approx(1)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_hypothesis_keeps_its_number_and_its_text_while_a_particle_holds_it(name: str) -> None:
    view = sampled_run(name).refresh().view
    names = Names(view)
    faces = dict(names.at("first").faces)
    for step, at in sorted(view.steps.items()):
        for phase in phases(at):
            named, present = names.at((step, phase)), {each.hypothesis for each in particles_of(at, phase)}
            for number, face in named.faces.items():
                if number in faces and faces[number] in present and named.numbers[faces[number]] == number:
                    assert face == faces[number], "the text that stands for it stays"
            assert {n for n in named.faces if n not in faces} == set(range(len(faces) + 1, max(named.faces) + 1))
            faces |= named.faces


def test_a_rewriting_is_seen_in_the_step_that_accepts_it(tmp_path: Path) -> None:
    """Step 1 of the toy run rewrites LUCK into PAIR, which answers like EVEN: it joins EVEN's card from then on."""
    cards_at = cards_of(labels(tmp_path))
    weighed, rewritten = cards_at(0, "weigh"), cards_at(0, "rewrite")
    assert [(card.key, card.value) for card in weighed] == [(1, f"75{NBSP}%"), (2, f"12{NBSP}%"), (4, f"12{NBSP}%")]
    assert [(card.key, card.copies) for card in rewritten] == [(1, 3), (4, 1)]
    assert rewritten[0].origins == (1, 2)
    copied = cards_at(1, "copy")
    assert [mark for card in copied for _, mark in card.marks] == ["copied"]
    assert 4 not in {card.key for card in copied}, "what has no copy is dropped"
    front = html([Deck(rewritten[:1])])
    assert 'data-key="1" data-from="1 2" style="--w:0.8750"' in front
    assert f'aria-label="Hypothesis 1, weight 88{NBSP}%, 3 copies"' in front


def test_a_chain_shows_its_likelihood_and_the_changes_that_were_accepted(tmp_path: Path) -> None:
    config = Config(method="mh", particles=3, batch_size=2, reading="rows", mh_rows="batch")
    right, wrong = {0: "yes", 1: "no"}, {0: "no", 1: "no"}
    reader = run(
        tmp_path,
        started(config, LABELS, steps=1),
        *drawn(EVEN, EVEN, ODD),
        *(scored(0, k, text, right, log_lik=-0.5) for k, text in enumerate((EVEN, EVEN, ODD))),
        scored(0, 0, BIG, wrong, role="proposal", log_lik=-2.5),
        proposed(0, 0, EVEN, BIG, log_lik=(-0.5, -2.5), log_alpha=math.log(0.14), u=0.24),
        scored(0, 1, BIG, wrong, role="proposal", log_lik=-0.75),
        proposed(0, 1, EVEN, BIG, accepted=True, log_lik=(-0.5, -0.75)),
        proposed(0, 2, ODD, BIG, log_lik=(-0.5, -2.5), log_alpha=math.log(0.09), u=0.1),
        finished(0, (EVEN, BIG, ODD)),
        data=LABELS,
        config=config,
    )
    kept, taken = cards = cards_of(reader)(0)
    assert [(card.key, card.value, card.copies) for card in cards] == [(1, "−0.5", 2), (3, "−0.8", 1)]
    assert [mark for _, mark in taken.marks] == ["rewritten, accepted"]
    assert f"Acceptance probability 14.0{NBSP}%, drew 24.0{NBSP}%: rejected." in words([kept])
    shown = html([Deck([kept, taken])])
    assert "Say yes if a is <del>even,</del> <ins>above 6,</ins> else no." in shown
    assert 'style="--w:0.7788"' in shown, "exp(−0.5 / 2)"
    assert ">×2</span>" in shown


def test_figures_have_a_text_and_count_steps_from_one(tmp_path: Path) -> None:
    reader = labels(tmp_path)
    view = reader.refresh().view
    curve, sizes = accuracy_curve(view, reader.dataset(), at=1), ess_curve(view, at=1)
    assert curve.lines["best"] == [(1, 1.0), (2, 1.0)]
    assert [mean for _, mean in curve.lines["mean"]] == [0.75, 0.8125]
    assert f"At step 2 the best is 100{NBSP}%, the mean 81{NBSP}%; test rows at the end: 50{NBSP}%." in curve.alt
    assert [(step, name) for step, _, name in sizes.dots] == [(2, "copied"), (3, "end")]
    # 0.4 EVEN, 0.3 BIG, 0.2 PAIR, 0.1 ODD
    assert sizes.dots[-1][1] == pytest.approx(ess_of_sentences(view) or 0) == pytest.approx(1 / 0.3)
    assert ess_curve(view, at=None).words == "Final weights: as even as 3.3 texts of equal weight"
    drawn_html = html([curve, sizes])
    assert drawn_html.count('role="img"') == 2
    assert ">step</text>" in drawn_html


def of_steps(
    *right: int, weights: tuple[float, ...] = (0.5, 0.5), texts: tuple[str, ...] = ("A", "B"), fit_of_b: float = -9.0
) -> str:
    """Health of a run whose hypothesis A is right on so many of four rows, by step; B on none."""
    config = Config(particles=len(texts), reading="rows")
    truth, events = [row.target == "yes" for row in YES_NO.train], []
    for step, n in enumerate(right):
        for k, text in enumerate(texts):
            n_right = n if text == "A" else 0
            said = {i: "yes" if is_yes == (i < n_right) else "no" for i, is_yes in enumerate(truth)}
            events.append(scored(step, k, text, said, log_lik=-1.0 if text == "A" else fit_of_b))
        events += [reweighted(step, weights), finished(step, texts)]
    view = view_of(started(config, YES_NO), *drawn(*texts), *events)
    assert len(accuracies(view, YES_NO)) == len(right)
    return health(view, YES_NO)


def test_the_health_of_a_run_is_one_line() -> None:
    assert of_steps(3) == "Too early to say how it does"
    assert of_steps(1, 2).startswith("No better than always ")
    assert of_steps(3, 4) == of_steps(3, 4, 4) == of_steps(4, 3, 4) == "Improving"
    assert (of_steps(4, 3), of_steps(3, 4, 3, 3)) == ("No gain for 1 step", "No gain for 2 steps")
    assert of_steps(3, 4, 4, 4) == "Settled for 2 steps"
    assert of_steps(3, 4, weights=(0.999, 0.001)) == "One hypothesis has all the weight"
    assert of_steps(3, 4, weights=(0.999, 0.001), fit_of_b=-1.0) == "Improving", "the final weights will be even"
    assert of_steps(3, 4, texts=("A", "A")) == "One hypothesis has all the weight", "in two copies"
    assert of_steps(3, 4, texts=("A",), weights=(1.0,)) == "Improving", "one particle always has it"


def happenings(reader: RunReader) -> dict[int | None, str]:
    """Sentences by step; None stands for the end."""
    snapshot = reader.refresh()
    config, view = snapshot.spec.config, snapshot.view
    return {step: plain(happened(view, step, config, Names(view))) for step in (*view.steps, None)}


def test_a_step_of_smc_says_who_is_heaviest_what_is_copied_and_what_is_accepted(tmp_path: Path) -> None:
    assert happenings(labels(tmp_path)) == {
        -1: "Four hypotheses written from the first rows.",
        0: "Hypothesis 1 weighed most: 75 %. Among the copies the weights are even enough: none is copied. "
        "One of four rewrites accepted.",
        1: "Hypothesis 1 weighed most: 80 %. One copied, one dropped. One of four rewrites accepted.",
        None: "The last hypotheses were weighed once more, each text once, on the last rows.",
    }


BY_METHOD = (
    ("mh", 0, "Three of four rewrites accepted."),
    ("mh on train", -1, "Four hypotheses written from the task alone"),
    ("always accept", 0, "Three of four rewrites taken."),
    ("vml", -1, "Every chain begins with the seed sentence."),
    ("vml", 0, "One of one rewrite taken."),
    ("incremental", 1, "Hypothesis "),
)


def test_every_method_names_what_it_does() -> None:
    for name, step, words in BY_METHOD:
        assert happenings(sampled_run(name))[step].startswith(words), name


A = f"{SEED} Always yes."
REASON = "it gives 'maybe', which is no label of this table: give one of no, yes"
REFUSING = Config(particles=6, epochs=1, batch_size=4, mutate="filtered")


def with_refused(folder: Path, *, refused: int, unreadable: int) -> RunReader:
    """Six particles with one text; the proposals for the first were refused, those for the next unreadable."""
    reasons = [(REASON, True)] * refused + [("the answer is empty", False)] * unreadable
    proposals = [
        proposed(0, k, A, None, why="unparsable", reason=reason, refused=is_refused, raw="Sorry.")
        for k, (reason, is_refused) in enumerate(reasons)
    ]
    texts = [A] * 6
    scores = [scored(0, k, A, {0: "yes", 1: "no"}) for k in range(6)]
    events = (started(REFUSING, YES_NO, steps=1), *drawn(*texts), *scores, *proposals, finished(0, texts))
    return run(folder, *events, config=REFUSING, usage=replace(USAGE, refused=3 * refused, contradictory=7))


def test_cards_ledger_and_counts_tell_refused_answers_from_unreadable_ones(tmp_path: Path) -> None:
    reader = with_refused(tmp_path, refused=2, unreadable=1)
    said, snapshot = words(cards_of(reader)(0)), reader.refresh()
    for text in ("rewrite refused: answer", "rewrite unreadable: answer", REASON, "the answer is empty"):
        assert text in said
    items = ruled_out_lines(ruled_out(snapshot.view, YES_NO), seed_text=SEED).items
    assert {line.status for line in items} == {"refused", "unreadable"}
    assert any("which is no label of this table" in html(line.details) for line in items)
    assert "2 answers not readable, 6 answers refused as no rule;" in calls_metric(snapshot).words
    assert result(reader.directory, snapshot.view)["calls"]["refused"] == 6
    for text in (" ".join(lines(summary(reader.directory, snapshot.view))), report_markdown(reader)):
        assert "6 answers were refused as no rule for this table. The model was asked again" in text
        assert "7 answers contradict their own explanation" in text


def test_a_run_says_its_method_its_result_and_when_and_that_it_settled(tmp_path: Path) -> None:
    directory = labels(tmp_path).directory
    spec, summary = directory.spec(), read_summary(directory)
    row = listed("r", spec, "finished", summary, "09:05")
    assert (row.mark, row.note) == ("done", "SMC · finished · 2 of 2 steps · 09:05"), "no verdict yet"
    stopped = listed("r", spec, "stopped", summary, "09:05")
    assert plain(stopped.note) == "SMC · stopped · 2 of 2 steps · 09:05"
    begun = started(Config(patience=4, reading="rows"), YES_NO, steps=2), *drawn("A"), finished(0, ("A",))
    end = RunFinished(outcome="finished")
    settled = view_of(*begun, end)
    assert finish_words(settled) == " (settled: 4 steps in a row changed neither the hypotheses nor their vote)"
    assert finish_words(view_of(*begun, finished(1, ("A",)), end)) == finish_words(view_of(*begun)) == ""


def test_lines_that_read_alike_have_the_ends_of_their_ids() -> None:
    runs = [
        Listed(id=f"iris-smc-{n}", name="iris", mark="acc", note=note) for n, note in enumerate(("SMC", "SMC", "MH"))
    ]
    assert [row.note for row in distinguished(runs)] == ["SMC · 0", "SMC · 1", "MH"]


def test_the_clock_runs_while_a_run_starts_and_an_estimate_of_the_demo_model_begins_with_its_plan() -> None:
    """Two calls in 20 s alone would give minutes."""
    config, at = Config(patience=0, reading="rows", particles=2), 1_767_970_000.0
    spec = RunSpec(name="toy", config=config, endpoint=DEMO, dataset=YES_NO.sizes)

    def words(*events: Event, state: State, patience: int = 0, calls: int = 0) -> str:
        made = replace(spec, config=replace(config, patience=patience))
        view = folded(Record(at=at, usage=Usage(learner=calls), event=event) for event in events)
        snapshot = Snapshot(spec=made, state=state, view=view, usage=view.usage)
        return plain(pace(snapshot, now=at + 20, rows={}))

    begun = started(config, YES_NO)
    left = max(1.0, time_s(plan_of(spec), demo_pace(DEMO)) - 20)
    assert words(begun, state="queued") == "20 s so far"
    assert words(begun, *drawn("A"), state="queued") == "0 s so far", "a run that goes on waits for its turn"
    assert words(begun, *drawn("A"), state="running", calls=2) == plain(f"20 s, about {seconds(left)} to go")
    assert ", at most about " in words(begun, *drawn("A"), state="running", calls=2, patience=5)


def check(name: str, mark: Mark, words: str = "", value: object = None, *, model: str = "m") -> Finding:
    return Finding(name, mark, words, value, ("learner", "optimizer"), "http://h/v1", model)


ANSWERS = check("answers", "works")


CHECKS: tuple[tuple[list[Finding], tuple[Mark, str]], ...] = (
    ([ANSWERS, check("seed", "note")], ("works", "A run can begin.")),
    ([check("key", "fails", "key refused")], ("fails", "A run cannot begin: key: key refused")),
    ([check("models", "note", model="")],
     ("fails", "A run cannot begin: no model is named for the learner and optimizer.")),
    ([ANSWERS, check("learner prompt", "works"), check("optimizer prompt", "note", "…", "try another")],
     ("note", "A run can begin, but answers could not be read (optimizer prompt): try another.")),
    ([ANSWERS, check("learner prompt", "note", "not answered: HTTP 500")],
     ("note", "A run can begin, but the learner prompt was not answered: HTTP 500")),
    ([ANSWERS, check("optimizer prompt", "note", "not tried: the server is slow")],
     ("note", "A run can begin, but the optimizer prompt was not tried: the server is slow")),
)  # fmt: skip


@pytest.mark.parametrize(("checks", "expected"), CHECKS)
def test_a_check_ends_with_what_it_comes_to(checks: list[Finding], expected: tuple[Mark, str]) -> None:
    assert verdict(checks) == expected


def test_a_pending_command_says_whether_the_worker_responds() -> None:
    running, stalled = ({pending_words(word, state) for word in ("stop", "pause")} for state in ("running", "stalled"))
    assert (len(running), len(stalled)) == (2, 1)
    assert [each for each in (*running, *stalled) if "does not respond" in each] == [*stalled]


def test_what_a_run_does_now_counts_the_particles_done() -> None:
    """Programs are written at step 0; later steps run those that they have."""
    config, rows = Config(particles=2), {0: "yes", 1: "no"}
    by_row = replace(config, reading="rows")
    begun = started(config, YES_NO)
    score, rewrite = scored(0, 0, "A", rows), proposed(0, 0, "A", "B", accepted=True)
    made = (begun, *drawn("A", "B"), score)
    assert activity_words(view_of(begun), config) == "writing the first hypotheses: 0 of 2"
    assert activity_words(view_of(*made), config) == "writing programs: 1 of 2"
    assert activity_words(view_of(*made), by_row) == "scoring"
    assert activity_words(view_of(*made, rewrite), config) == "rewriting: 1 of 2"
    at_end = (*made, finished(0, ("A", "B")), finished(1, ("A", "B")))
    assert activity_words(view_of(*at_end), config) == "final weights and evaluation"


def test_a_pause_tells_when_it_tries_again_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "localtime", time.gmtime)
    at = 1_800_000_000.0

    def words(retry_at: float | None, gives_up_at: float | None, *, now: float) -> str:
        event = RunPaused(reason="endpoint", detail="gone", retry_at=retry_at, gives_up_at=gives_up_at)
        return plain(retry_words(view_of(started(Config(), YES_NO), event), now=now))

    assert words(at + 12, at + 3600, now=at) == "Next try in 12 s (at 08:00:12); gives up at 09:00."
    assert words(at, at + 60, now=at + 1) == "Next try any moment; gives up at 08:01."
    assert words(None, None, now=at) == ""
