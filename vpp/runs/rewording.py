"""Another wording for a particle: both texts on the same rows, the ratio of Eq. 9, and a run that goes on with it.

Nothing here changes the run itself. Logarithms are natural.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError, RunError
from vpp.inference.scoring import log_likelihood
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.weights import log_acceptance
from vpp.problem import Prediction, likelihood_of, losses_of
from vpp.runs.asking import Answers, Asking, OnProgress
from vpp.runs.directory import NAME_LENGTH
from vpp.runs.keys import Keys
from vpp.runs.preparation import Preparation, going_on
from vpp.runs.reader import RunReader
from vpp.runs.spec import RunSpec
from vpp.runs.start import whole_text
from vpp.runs.view import RunView, last_finished
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """A text that a person puts beside that of a particle."""

    slot: int
    old: str
    """Complete text of the particle."""
    new: str
    """Complete new text, seed sentence included."""
    rows: tuple[int, ...]
    """(M,) ids of the training rows that the population was last scored on; a row may repeat."""
    tau: float | None
    """tau of the run's likelihood; None for classification."""
    exponent: float
    """Power of the likelihood in the run's accept steps; 1 unless its weights are tempered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Scores of both texts on the same rows, and the ratio of an accept step. No random number is drawn."""

    rows: tuple[Row, ...]
    """(M,) in the order of the score; a row may repeat."""
    old: tuple[Prediction, ...]
    """(M,) answers with the particle's text."""
    new: tuple[Prediction, ...]
    """(M,) answers with the new text."""
    log_likelihood: float
    """Of the particle's text, summed over the M rows."""
    log_likelihood_new: float
    """Of the new text, on the same rows."""
    log_alpha: float
    """Log of the acceptance probability (Eq. 9)."""
    won: tuple[int, ...]
    """Ids of rows on which the new text does better: right where the other is wrong, or with a smaller error."""
    lost: tuple[int, ...]
    """Ids of rows on which it does worse."""
    unread: tuple[int, ...]
    """Ids of rows to which it gave no readable answer."""

    @property
    def acceptance(self) -> float:
        """Acceptance probability, from 0 to 1."""
        return math.exp(self.log_alpha)

    @property
    def n_rows(self) -> int:
        """Distinct rows."""
        return len({row.id for row in self.rows})


def rewording(view: RunView, config: Config, slot: int, text: str) -> Rewording:
    """Return the new text beside the particle's, with the rows that the particle was last scored on.

    Raises InputError for a text that is empty, too long or not new, or an unknown slot; RunError before the first
    score.
    """
    rows = last_rows(view)
    if not 0 <= slot < view.size:
        raise InputError(f"there is no particle {slot}: give one from 0 to {view.size - 1}")
    new = whole_text(text, view.started.seed_text if view.started else "", name="the new text")
    at, old = last_finished(view), view.texts[view.population[slot].hypothesis]
    held = {view.texts[state.hypothesis] for state in view.population} if config.is_weighing else {old}
    if new in held:
        who = f"particle {slot}" if new == old else "another particle"
        raise InputError(f"{who} says this already: change a word")
    return Rewording(
        slot=slot,
        old=old,
        new=new,
        rows=rows,
        tau=at.finished.tau if at.finished else None,
        exponent=at.finished.exponent if at.finished and config.is_telescoping else 1.0,
    )


def last_rows(view: RunView) -> tuple[int, ...]:
    """(M,) ids of the rows behind the final weights, else behind the last step. Raises RunError before a score."""
    scored = view.final_scored if view.final else last_finished(view).scored
    if not scored:
        raise RunError("no particle has been scored yet: wait for the first step to end")
    return next(iter(scored.values())).rows


def asking_of(reader: RunReader, reworded: Rewording, view: RunView) -> Asking:
    """Return the questions that score both texts: one a row and text, but those that the run has answered."""
    wanted, known = set(reworded.rows), reader.read_answers().by_pair
    rows = [row for row in reader.dataset().train if row.id in wanted]
    return Asking(reader.directory, rows, view=view, texts=(reworded.old, reworded.new), known=known)


def comparison_of(reworded: Rewording, answers: Answers, dataset: Dataset, config: Config) -> Comparison | None:
    """Compare the answers to the questions of `asking_of`; None unless every row is answered."""
    by_row = {row.id: (row, *both) for row, *both in zip(answers.rows, *answers.predictions, strict=True)}
    if not set(reworded.rows) <= by_row.keys():
        return None
    rows, old, new = zip(*(by_row[row] for row in reworded.rows), strict=True)
    likelihood = likelihood_of(dataset, epsilon=config.epsilon, tau=reworded.tau)
    return compare(old, new, rows, dataset=dataset, likelihood=likelihood, exponent=reworded.exponent)


def compare(
    old: Sequence[Prediction],
    new: Sequence[Prediction],
    rows: Sequence[Row],
    *,
    dataset: Dataset,
    likelihood: Likelihood,
    exponent: float = 1.0,
) -> Comparison:
    """Compare (M,) answers of two texts to the same (M,) rows with known targets."""
    targets = [row.target for row in rows]
    before, after = (losses_of(dataset, tuple(said.value for said in each), targets) for each in (old, new))
    log_lik, log_lik_new = (log_likelihood(likelihood, tuple(each), tuple(rows)) for each in (old, new))
    ids = [row.id for row in rows]
    return Comparison(
        rows=tuple(rows),
        old=tuple(old),
        new=tuple(new),
        log_likelihood=log_lik,
        log_likelihood_new=log_lik_new,
        # alpha = min(1, (p(rows | new) / p(rows | old))^exponent)                   (Eq. 9)
        log_alpha=log_acceptance(exponent * log_lik_new, exponent * log_lik),
        won=_distinct(ids, (after < before).tolist()),
        lost=_distinct(ids, (after > before).tolist()),
        unread=_distinct(ids, [said.value is None for said in new]),
    )


def _distinct(ids: Sequence[int], chosen: Sequence[bool]) -> tuple[int, ...]:
    """Return the chosen ids, each once, in order."""
    return tuple(dict.fromkeys(each for each, is_chosen in zip(ids, chosen, strict=True) if is_chosen))


def reworded_run(
    spec: RunSpec, dataset: Dataset, view: RunView, reworded: Rewording, *, run: str, name: str = ""
) -> Preparation:
    """Prepare a new run from a run's particles, one of them with the new text, on the same rows. run: its id.

    Raises RunError if the particle no longer holds the text that was compared.
    """
    slot = reworded.slot
    plain = going_on(spec, view, run=run, name=name or f"{spec.name[:NAME_LENGTH]}, particle {slot} reworded")
    if plain.start[slot : slot + 1] != (reworded.old,):
        raise RunError(f"particle {slot} has another text by now: score the new wording again")
    start = (*plain.start[:slot], reworded.new, *plain.start[slot + 1 :])
    return Preparation(dataset=dataset, spec=replace(plain, start=start, reworded=slot))


async def score_rewording(
    reader: RunReader, slot: int, text: str, *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None
) -> tuple[Rewording, Comparison]:
    """Ask the run's learner about both texts, and compare them. Raises InputError, RunError or EndpointError."""
    snapshot, dataset = reader.refresh(), reader.dataset()
    reworded = rewording(snapshot.view, snapshot.spec.config, slot, text)
    asking = asking_of(reader, reworded, snapshot.view)
    answers = await asking.go(keys=keys, cache_dir=cache_dir, on_progress=on_progress)
    compared = comparison_of(reworded, answers, dataset, snapshot.spec.config)
    if compared is None:
        raise RunError(f"rows of the last score are not in {reader.directory.path}/data.csv: restore it from a copy")
    return reworded, compared
