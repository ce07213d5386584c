"""Findings of a check: their record, and those about the prompts, which are asked over a tiny made-up table."""

from dataclasses import dataclass, field
from typing import Any, Literal

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.errors import EndpointError
from vpp.llm.choices import AUTO, chosen_templates
from vpp.llm.context import ModelLimits
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import DEFAULT_CONCURRENCY
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts, seed_sentence
from vpp.llm.protocol import FIX_THOUGHTS, printable
from vpp.llm.structure import structured_answers
from vpp.llm.templates import shipped
from vpp.problem import Prediction

Mark = Literal["works", "note", "fails"]
Role = Literal["learner", "optimizer"]
CHECK_S = 60.0
"""Seconds after which no further part begins; the current one may take one answer longer."""
DEMO_MODEL = "demo"
"""Name under which the demo model is served."""
QUOTE_LIMIT = 160
"""Characters shown of an answer."""
RULE = 'If "length" is above 50, output wug. Otherwise, output dax.'
TOY = b"""\
length,colour,animal
12,red,dax
18,blue,dax
25,red,dax
31,blue,dax
61,red,wug
72,blue,wug
88,red,wug
64,blue,wug
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Result of one part of the check."""

    name: str
    mark: Mark
    """works: as it should. note: a run works with a limitation. fails: no run works."""
    words: str
    """One line."""
    values: dict[str, Any] = field(default_factory=dict)
    """The same as numbers and names, for programs."""


def works(name: str, words: str, **values: Any) -> Finding:
    """Return a finding that is as it should be."""
    return Finding(name=name, mark="works", words=words, values=values)


def note(name: str, words: str, **values: Any) -> Finding:
    """Return a finding with which a run works, with a limitation."""
    return Finding(name=name, mark="note", words=words, values=values)


def fails(name: str, words: str, **values: Any) -> Finding:
    """Return a finding with which no run works."""
    return Finding(name=name, mark="fails", words=words, values=values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Options of a check."""

    roles: tuple[Role, ...] = ("learner", "optimizer")
    concurrency: int = DEFAULT_CONCURRENCY
    """Calls that a run has in flight."""
    learner_max_tokens: int = 512
    optimizer_max_tokens: int = 1536
    structured: str = "off"
    """How the learner's answers are structured (`choices.STRUCTURED`)."""
    longest_s: float = CHECK_S
    """Seconds after which no further part begins."""


def toy() -> Dataset:
    """Return a made-up table with six training rows and two test rows."""
    table = Table.read(TOY, name="made up")
    return build_dataset(
        table,
        target="animal",
        columns=ColumnChoice(task="classification"),
        split=SplitPlan(seed=0, train_size=6, test_size=2),
    )


def _templates(endpoint: Endpoint) -> str:
    """Return the name of the templates that a run uses by default."""
    return chosen_templates(AUTO, is_demo=endpoint.model == DEMO_MODEL, preset="recommended")


async def learner_finding(endpoint: Endpoint, trial: Trial, *, carrier: str) -> Finding:
    """Ask about one row, as a run does. carrier: field of structured output that the server honours; empty if none."""
    attempts: list[int] = []
    dataset, name = toy(), "learner prompt"
    structured = structured_answers(trial.structured, carrier)
    learner = LlmLearner(
        endpoint,
        LearnerPrompts(dataset=dataset, template=shipped("learner", _templates(endpoint)), structured=structured),
        LearnerOptions(seed=0, max_tokens=trial.learner_max_tokens),
        counters=Counters(),
        on_answer=lambda _, __, n: attempts.append(n),
    )
    try:
        (prediction,) = await learner.predict(RULE, dataset.train[:1])
    except EndpointError as error:
        return note(name, f"not answered: {error}", parsed=False)
    if prediction.value is None:
        return _unread(name, prediction.reason, prediction.raw or "")
    verdict = "as the rule says" if prediction.value == dataset.train[0].target else "against the rule"
    again = f", at answer {attempts[0]}" if attempts[:1] > [1] else ""
    quote = quoted(prediction.explanation or str(prediction.value))
    words = f"read{again}: {prediction.value}, {verdict}; it said {quote}"
    return works(name, words, parsed=True, answers=attempts[0])


async def optimizer_finding(endpoint: Endpoint, trial: Trial) -> Finding:
    """Ask about one batch that a wrong rule answered, as a run does."""
    dataset, name = toy(), "optimizer prompt"
    text = seed_sentence(dataset)
    prompts = OptimizerPrompts(
        dataset=dataset,
        refining=shipped("optimizer", _templates(endpoint)),
        drawing=shipped("prior", _templates(endpoint)),
        seed_text=text,
    )
    limits = ModelLimits(max_tokens=trial.optimizer_max_tokens)
    optimizer = LlmOptimizer(endpoint, prompts, limits, counters=Counters())
    wrong = [Prediction(row=row.id, value="dax", explanation="") for row in dataset.train]
    rule = f"{text} Every animal is a dax."
    try:
        proposal = await optimizer.propose(rule, dataset.train, wrong, temperature=0.7, seed=0)
    except EndpointError as error:
        return note(name, f"not answered: {error}", parsed=False)
    if proposal.text is None:
        return _unread(name, proposal.reason, proposal.raw)
    return works(name, f"read: {quoted(proposal.text.removeprefix(text).strip())}", parsed=True)


def _unread(name: str, reason: str | None, raw: str) -> Finding:
    is_cut = "cut off at its limit" in (reason or "")
    fix = FIX_THOUGHTS if is_cut else "take another of the gallery's prompts, or a model that follows instructions"
    words = f"answered three times, and could not be read ({printable(reason or '')}); it said {quoted(raw)}"
    return note(name, words, parsed=False, mend=fix)


def quoted(text: str) -> str:
    """Return the beginning of an answer in quotes, in one line."""
    line = printable(text[: 4 * QUOTE_LIMIT])
    return f"'{line}'" if len(line) <= QUOTE_LIMIT else f"'{line[:QUOTE_LIMIT]}…'"
