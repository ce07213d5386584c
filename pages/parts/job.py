"""A job: questions that a page asks beside a run. The browser session keeps it while the page is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, opening, person
from vpp.data.dataset import Row
from vpp.findings.new_rows import plan_blocks
from vpp.inference.plan import plan
from vpp.runs.asking import Asking, Background, Questions
from vpp.runs.preparation import Preparation
from vpp.show import markup
from vpp.show.markup import html
from vpp.show.words import counted, integer, seconds

AT_ONCE_S = 1.0  # seconds that a page waits for answers before it shows their progress
FEW = 20  # questions up to which no bar is drawn


@dataclass(frozen=True, slots=True)
class Job:
    run: opening.OpenRun
    name: str

    @property
    def now(self) -> Background[Any] | None:
        """The job as it runs or has ended; None before it has begun."""
        job: Background[Any] | None = st.session_state.get(self.key("ask"))
        return job

    @property
    def is_running(self) -> bool:
        return self.now is not None and self.now.is_running

    @property
    def has_failed(self) -> bool:
        return self.now is not None and self.now.outcome == "failed"

    def key(self, what: str) -> str:
        """Return a key of the session for this job."""
        return f"posterior.{what}.{self.name}.{self.run.directory.id}"

    def draw(self, section: Callable[[opening.OpenRun], None]) -> None:
        """Draw the section in a container of its own, every second while the job runs."""
        was_running = self.is_running
        with st.container():
            every_s = 1.0 if was_running else None
            blocks.refreshed(lambda: section(self.run), lambda: was_running and not self.is_running, every_s=every_s)

    def begin(self, asking: Questions) -> None:
        keys = person.keys_of(self.run.snapshot.spec.endpoint)
        job = Background(asking, keys=keys, cache_dir=person.cache_dir())
        st.session_state[self.key("ask")] = job
        if not job.wait(AT_ONCE_S) or job.outcome == "failed":
            st.rerun()

    def ask_rows(self, rows: Sequence[Row]) -> None:
        self.begin(Asking(self.run.directory, rows, view=opening.fresh(self.run).view))

    def follow(self, *, stop: str = "Stop and keep") -> bool:
        """Draw how far the job is, with a button that stops it; return whether it runs."""
        job = self.now
        if job is None or not job.is_running:
            return False
        left, done, total = job.seconds_left(), job.asking.done, job.asking.total
        words = f"{integer(done)} of {integer(total)} answers{f', about {seconds(left)} left' if left else ''}"
        if total > FEW:
            st.progress(done / total, text=words)
        else:
            blocks.captions(words)
        if st.button(stop if total > FEW else "Stop", key=f"{self.name}.stop"):
            job.stop()
        return True

    def consent(self) -> bool:
        endpoint = self.run.snapshot.spec.endpoint
        label, key = "What I ask about may be sent to the address above", f"posterior.ask.consent.{self.name}"
        return endpoint.is_started_here or person.consent(label, key, endpoint.base_url)

    def ask_key(self) -> None:
        """Ask for the endpoint's key after a failure."""
        if self.has_failed and not self.run.snapshot.spec.endpoint.is_demo:
            person.ask_keys(self.run.snapshot.spec.endpoint)


def model_words(run: opening.OpenRun) -> str:
    endpoint = run.snapshot.spec.endpoint
    return "the demo model" if endpoint.is_demo else endpoint.model


def served_words(run: opening.OpenRun, calls: int) -> str:
    """Return who answers and when, as in `to the demo model, about 4 s at this run’s pace`."""
    view = opening.fresh(run).view
    uncached = view.usage.calls - view.usage.cached
    pace = view.wall_s / uncached * calls if uncached > view.usage.cached and view.wall_s else 0.0
    return f"to {model_words(run)}{f', about {seconds(pace)} at this run’s pace' if pace >= 1 else ''}"


def calls_of(run: opening.OpenRun, n_rows: int) -> int:
    return opening.fresh(run).view.n_unique * run.snapshot.spec.config.learner_samples * n_rows


def plan_words(run: opening.OpenRun, n_rows: int) -> str:
    calls = calls_of(run, n_rows)
    return f"{counted(calls, 'call')} {served_words(run, calls if n_rows > 1 else 0)}"


def describe_next(prepared: Preparation, words: str) -> DeltaGenerator:
    """Draw what a new run would be, beside what it takes; return the place below the words."""
    whole = plan(prepared.spec.config, **prepared.dataset.sizes, given=len(prepared.spec.start))
    left, right = st.columns([1.4, 1], gap="large")
    right.html(markup.block(f'<div class="plan">{html(plan_blocks(whole))}</div>'))
    left.html(markup.block(f"<p>{markup.text(words)}</p>"))
    return left
