"""The result of a trial, and the file that keeps it: trial.json in the run's directory."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from vpp import files
from vpp.data.dataset import Dataset, Row, Value
from vpp.data.labelling import input_key
from vpp.posterior.metric import wilson
from vpp.runs.directory import RunDirectory, write_or_refuse
from vpp.runs.view import RunView

FILE = "trial.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obeyed:
    """How many of n changed rows the learner answered as the sentence demands."""

    n: int
    obeyed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseWorth:
    """A clause of a sentence, and what its loss costs."""

    start: int
    end: int
    """Its place in the sentence, without the seed sentence."""
    text: str
    log_likelihood_lost: float
    """Log-likelihood of the whole sentence, minus that of the sentence without the clause; natural log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedIdea:
    """An idea's heaviest wording on trial."""

    text: str
    """The whole hypothesis, seed sentence included."""
    weight: float
    """The idea's."""
    must_change: Obeyed
    """Rows with a cell changed so that the sentence's answer changes."""
    must_stay: Obeyed
    """Rows with a cell changed that the sentence does not name."""
    log_likelihood: float
    """Over the trial's rows, natural log."""
    clauses: tuple[ClauseWorth, ...]
    gain_over_no_rule: float
    """Its log-likelihood minus that of the learner without a rule, on the same rows."""

    @property
    def faithful(self) -> Obeyed:
        """Both kinds of changed rows together."""
        n = self.must_change.n + self.must_stay.n
        return Obeyed(n=n, obeyed=self.must_change.obeyed + self.must_stay.obeyed)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalPair:
    """A row on which two ideas agree, and one cell's change that parts them."""

    inputs: tuple[tuple[str, str | None], ...]
    """The changed row."""
    column: str
    before: str | None
    after: str | None
    ideas: tuple[int, int]
    """Places in `Trial.ideas`."""
    answers: tuple[Value | None, Value | None]
    """Theirs to the changed row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Content of trial.json."""

    step: int
    """The run's last complete step then."""
    rows: tuple[int, ...]
    """(M,) ids of the training rows that clauses and the learner without a rule were scored on."""
    no_rule: float
    """Log-likelihood of the learner without a rule on these rows, natural log."""
    ideas: tuple[TriedIdea, ...]
    """Heaviest first."""
    pairs: tuple[MinimalPair, ...]


_CONTENT: TypeAdapter[Trial] = TypeAdapter(Trial)


def keep(directory: RunDirectory, trial: Trial) -> None:
    """Write trial.json. Raises DiskRefused."""
    write_or_refuse(directory.path / FILE, to_json(trial, inf_nan_mode="strings"))


def read_trial(directory: RunDirectory, view: RunView) -> Trial | None:
    """Read trial.json; None if it is missing, unreadable or from an earlier step."""
    try:
        trial = _CONTENT.validate_python(files.read_json(directory.path / FILE))
    except (OSError, ValueError, ValidationError):
        return None
    return trial if trial.step == view.last_step else None


def parting_rows(trial: Trial | None, dataset: Dataset, n: int) -> tuple[Row, ...]:
    """Return at most n distinct unlabelled rows on which two ideas part, under new ids; none without a trial."""
    known = {input_key(row) for row in dataset.labelled}
    rows = (Row(id=0, inputs=pair.inputs, target=None) for pair in (trial.pairs if trial else ()))
    new = {input_key(row): row for row in rows if input_key(row) not in known}
    return tuple(replace(row, id=dataset.next_id + place) for place, row in enumerate(list(new.values())[:n]))


def trial_json(run: str, trial: Trial) -> dict[str, Any]:
    """Return the object that `vpp trial --json` prints; rates have Wilson's 95 % interval, logarithms are natural."""
    return {
        "run": run,
        "step": trial.step,
        "rows": len(trial.rows),
        "log_likelihood_no_rule": trial.no_rule,
        "ideas": [_idea_json(idea) for idea in trial.ideas],
        "pairs": [asdict(pair) | {"inputs": dict(pair.inputs)} for pair in trial.pairs],
    }


def _idea_json(idea: TriedIdea) -> dict[str, Any]:
    return {
        "text": idea.text,
        "weight": idea.weight,
        "faithfulness": _rate(idea.faithful),
        "must_change": _rate(idea.must_change),
        "must_stay": _rate(idea.must_stay),
        "log_likelihood": idea.log_likelihood,
        "clauses": [{"text": each.text, "log_likelihood_lost": each.log_likelihood_lost} for each in idea.clauses],
        "gain_over_no_rule": idea.gain_over_no_rule,
    }


def _rate(found: Obeyed) -> dict[str, float | None]:
    if not found.n:
        return {"rate": None, "low": None, "high": None, "n": 0}
    low, high = wilson(found.obeyed, found.n)
    return {"rate": found.obeyed / found.n, "low": low, "high": high, "n": found.n}
