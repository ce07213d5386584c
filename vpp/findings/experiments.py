"""The trial of a run's hypotheses: what the model does with each, and what its clauses are worth."""

from collections.abc import Iterator
from dataclasses import dataclass

from vpp.posterior.metric import CHANCE, sign_test, wilson
from vpp.runs.directory import RunDirectory, read_json
from vpp.runs.view import RunView
from vpp.show.blocks import Note, Quote, Say, Table
from vpp.show.words import counted, fixed, integer, interval_text, percent

FILE = "trial.json"


FINDINGS = ("undecided", "it helps", "it hurts")
"""What the rows say of a clause, by `Trial.sign`."""
FOLLOWS = 0.7
"""Share obeyed above which the learner follows a sentence: below, over three in ten answers are not the sentence's."""
FEW = 5
"""With fewer rows, Wilson's interval lies below `FOLLOWS` too often by luck: 0 of 2 in 9 of 100 trials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obeyed:
    """How many of n rows speak for a sentence: changed rows answered as it demands, or rows it answers better."""

    n: int = 0
    obeyed: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; 0 to 1 without a row."""
        return wilson(self.obeyed, self.n) if self.n else (0.0, 1.0)

    @property
    def follows(self) -> int:
        """1 if the interval lies above `FOLLOWS`, -1 if below, else 0; 0 for fewer rows than `FEW`."""
        low, high = self.interval
        return int(low > FOLLOWS) - int(high < FOLLOWS and self.n >= FEW)

    def sign(self, *, best_of: int = 1) -> int:
        """Return 1 if more rows speak for it than luck explains, -1 if fewer, else 0: so for fewer than six rows."""
        against = self.n - self.obeyed
        return (sign_test(self.obeyed, against, best_of=best_of) < CHANCE) * (1 if self.obeyed > against else -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseWorth:
    text: str
    log_likelihood_lost: float
    """Log-likelihood of the whole sentence, minus that of the sentence without the clause; natural log."""
    rows: Obeyed = Obeyed()
    """Rows with a smaller loss with the clause, of those where it changes the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedIdea:
    text: str
    """The whole hypothesis, seed sentence included."""
    weight: float
    must_change: Obeyed
    """Rows with a cell changed so that the sentence's answer changes."""
    must_stay: Obeyed
    """Rows with a cell changed that the sentence does not name."""
    log_likelihood: float
    """Over the trial's rows, natural log."""
    clauses: tuple[ClauseWorth, ...]
    gain_over_no_rule: float
    """Its log-likelihood minus that of the learner without a rule, on the same rows."""
    over_no_rule: Obeyed = Obeyed()
    """Rows with a smaller loss than without a rule, of those that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    step: int
    """The run's last complete step then."""
    rows: tuple[int, ...]
    """(M,) ids of the training rows that clauses and the learner without a rule were scored on."""
    no_rule: float
    """Log-likelihood of the learner without a rule on these rows, natural log."""
    ideas: tuple[TriedIdea, ...]
    """Heaviest first."""

    def sign(self, clause: ClauseWorth) -> int:
        """Return 1 if the clause helps beyond luck, among all clauses on trial, -1 if it hurts, else 0."""
        return clause.rows.sign(best_of=sum(len(idea.clauses) for idea in self.ideas))


def read_trial(directory: RunDirectory, view: RunView) -> Trial | None:
    """Read trial.json; None if it is missing, unreadable or from an earlier step."""
    trial = read_json(directory.path / FILE, Trial)
    return trial if trial and trial.step == view.last_step else None


# The trial in words

INTERVALS = (
    "In brackets: 95 % intervals (Wilson). Improvement and loss: log-likelihood in nats over these rows. A clause "
    "helps or hurts if the sign test, corrected for the number of clauses, is below 0.05."
)


def rate_words(found: Obeyed, none: str = "none possible") -> str:
    """`38 of 40 (83 % to 99 %)`; `none` without a row."""
    if not found.n:
        return none
    return f"{integer(found.obeyed)} of {integer(found.n)} ({interval_text(found.obeyed, found.n)})"


def trial_verdict(trial: Trial) -> str:
    first, on = trial.ideas[0], counted(len(trial.rows), "training row")
    change, rows = first.must_change, first.over_no_rule
    how = ("may or may not obey", "obeys", "does not obey")[change.follows]
    obeyed = f"{rate_words(change)} answers changed as it demands" if change.n else "no row can change its answer"
    worth = ("about as well as", "better than", "worse than")[rows.sign()]
    differ = f": {rate_words(rows)} rows that differ improve" if rows.n else ""
    return f"The model {how} the heaviest hypothesis: {obeyed}. On {on} it predicts {worth} without a rule{differ}."


def trial_blocks(trial: Trial, seed_text: str) -> Iterator[object]:
    yield Say(trial_verdict(trial))
    head = ("", "weight", "answers that must change", "answers that must stay")
    lines = [
        (
            str(n),
            percent(min(each.weight, 1.0)),
            rate_words(each.must_change),
            rate_words(each.must_stay),
            fixed(each.gain_over_no_rule, 1),
            rate_words(each.over_no_rule, "none differ"),
        )
        for n, each in enumerate(trial.ideas, 1)
    ]
    yield Table(head=(*head, "improvement over no rule", "rows improved"), rows=lines, right=(1, 4))
    yield Note(INTERVALS)
    for n, each in enumerate(trial.ideas, 1):
        alone = () if each.clauses else ("no program of several branches, so no clause was left out",)
        yield Quote(each.text.removeprefix(seed_text).strip(), (f"hypothesis {n} of the trial", *alone))
        if each.clauses:
            rows, name = clause_rows(each, trial), f"clauses of hypothesis {n}"
            yield Table(head=("clause", "loss without it", "rows that need it"), rows=rows, right=(1,), name=name)


def clause_rows(idea: TriedIdea, trial: Trial) -> list[tuple[str, str, str]]:
    return [
        (
            each.text,
            fixed(each.log_likelihood_lost, 1),
            f"{rate_words(each.rows, 'none')}: {FINDINGS[trial.sign(each)]}",
        )
        for each in idea.clauses
    ]
