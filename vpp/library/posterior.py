"""Posterior: a run's weighted hypotheses, from Python."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpp.cli import system
from vpp.data.roles import unlabelled_rows
from vpp.data.table import Table, read_like
from vpp.errors import RunError
from vpp.inspection.genealogy import Ancestor, genealogy
from vpp.inspection.ideas import Idea, merge_ideas
from vpp.inspection.ruled_out import RuledOut, ruled_out
from vpp.inspection.scores import averages_asked, rows_of, weighed_log_likelihoods
from vpp.library.frames import disagreement_frame, table_of
from vpp.posterior.prediction import Value
from vpp.reporting.document import report_html
from vpp.reporting.inference_data import inference_data
from vpp.reporting.markdown import report_markdown
from vpp.reporting.notebook import posterior_html, posterior_text
from vpp.runs.asking import Answers, ask
from vpp.runs.averages import averages
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.runs.summary import result

if TYPE_CHECKING:
    import pandas as pd
    from arviz import InferenceData


@dataclass(frozen=True, slots=True, kw_only=True)
class Particle:
    """One hypothesis of the last whole population."""

    slot: int
    weight: float
    """Normalised."""
    text: str
    """The whole hypothesis, the seed sentence included."""
    idea: int
    """Number, from 0, of its idea in `Posterior.ideas`."""
    log_likelihood: float | None
    """Natural log, summed over the rows that made the weights; None where the method keeps none."""


class Posterior:
    """A run's weighted hypotheses, as they stood when it was opened."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._reader = RunReader(directory)
        self.view = self._reader.refresh().view

    @property
    def particles(self) -> tuple[Particle, ...]:
        """(K,) by slot; empty before the first population is whole."""
        merged = merge_ideas(self.view, self._reader.dataset())
        if merged is None:
            return ()
        log_likelihoods = weighed_log_likelihoods(self.view)
        return tuple(
            Particle(
                slot=slot,
                weight=self.view.weights[slot],
                text=text,
                idea=merged.of_slot(slot),
                log_likelihood=log_likelihoods[slot],
            )
            for slot, text in enumerate(self.hypotheses)
        )

    @property
    def ideas(self) -> tuple[Idea, ...]:
        """Particles that answer alike are one idea; the heaviest first."""
        return tuple(merge_ideas(self.view, self._reader.dataset()) or ())

    @property
    def hypotheses(self) -> list[str]:
        """(K,) texts, by slot."""
        return [self.view.texts[p.hypothesis] for p in self.view.population]

    @property
    def weights(self) -> list[float]:
        """(K,) normalised."""
        return list(self.view.weights)

    @property
    def ruled_out(self) -> tuple[RuledOut, ...]:
        """Texts rejected, resampled away or not readable, the newest first, with the rows that speak against each."""
        return ruled_out(self.view, self._reader.dataset())

    @property
    def result(self) -> dict[str, Any]:
        """What the run came to: the object that `--json` ends with."""
        return result(self.directory, self.view)

    def lineage(self, slot: int) -> tuple[Ancestor, ...]:
        """A particle's way from the first hypothesis to now, a record a step. Raises InputError, RunError."""
        family = genealogy(self.view)
        if family is None:
            raise RunError(f"{self.directory.path} has no particles yet: wait for its first step")
        return family.ancestry(slot)

    def ask(self, table: "Table | str | Path | pd.DataFrame") -> Answers:
        """Every particle's answer to every row. Raises EndpointError, DataError for a missing column.

        Not from inside a running event loop: use `await vpp.runs.asking.ask(...)` there.
        """
        dataset = self._reader.dataset()
        rows = unlabelled_rows(read_like(table_of(table), dataset.columns), dataset.inputs)
        environment = system.environment()
        return asyncio.run(ask(self.directory, rows, keys=system.keys(), cache_dir=environment.cache_dir))

    def predict(self, table: "Table | str | Path | pd.DataFrame") -> list[Value | None]:
        """The averaged prediction a row (Eq. 7 or 8); None where every particle abstains."""
        return list(averages_asked(self.ask(table), self._reader.refresh().spec.config))

    def disagreement(self, table: "Table | str | Path | pd.DataFrame | None" = None) -> "pd.DataFrame":
        """Votes and doubt, a line a row, the most divided first: of the test rows as evaluated, or of new rows, asked.

        Raises RunError before the test rows are evaluated; for new rows as `ask` does.
        """
        dataset = self._reader.dataset()
        if table is not None:
            answers = self.ask(table)
            votes = [tuple(p.value for p in said) for said in zip(*answers.predictions, strict=True)]
            averaged = averages_asked(answers, self._reader.refresh().spec.config)
            return disagreement_frame(answers.rows, votes, averaged, answers.weights, task=dataset.task)
        test = self.view.evaluated.get("test")
        if test is None:
            raise RunError(
                f"{self.directory.path} has not evaluated its test rows yet: wait, or give rows to ask about"
            )
        votes = list(zip(*test.predictions, strict=True))
        return disagreement_frame(rows_of(test, dataset), votes, averages(test), test.weights, task=dataset.task)

    def to_arviz(self) -> "InferenceData":
        """The particles for ArviZ (see vpp.reporting.inference_data). Raises InputError where it is not installed."""
        return inference_data(self._reader)

    def report(self) -> str:
        """The run's report in markdown."""
        return report_markdown(self._reader)

    def report_html(self) -> str:
        """The report as a page of its own, with live charts: about 5 MB."""
        return report_html(self._reader)

    def __repr__(self) -> str:
        return f"<Posterior of {self.directory.id}: {len(self.hypotheses)} particles, {len(self.ideas)} ideas>"

    def __str__(self) -> str:
        return posterior_text(self._reader.refresh(), self._reader.dataset())

    def _repr_html_(self) -> str:
        return posterior_html(self._reader.refresh(), self._reader.dataset())
