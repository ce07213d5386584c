"""The words that a report uses, each in a sentence; only those that the run's method has."""

from collections.abc import Iterator

from vpp.data.dataset import Task
from vpp.settings import Config
from vpp.wording.glossary import BY_LABEL
from vpp.wording.verdicts import defaults_sentence


def glossary(config: Config, task: Task) -> Iterator[str]:
    """A list in markdown, and on which thresholds the report's verdicts turn."""
    yield "\n".join(f"- **{name}**: {BY_LABEL[name].meaning}" for name in terms(config, task))
    yield defaults_sentence()


def terms(config: Config, task: Task) -> Iterator[str]:
    """Names of the glossary, from what is sampled to what is predicted."""
    yield from ("hypothesis", "particle")
    if config.largest_size > 1:
        yield "idea"
    if config.is_weighted:
        yield from ("weight", "ESS")
        yield from ("φ", "log evidence") if config.is_telescoping else ("β",)
        yield from ("resampling", "explanation", "living descendant")
    yield "log-likelihood"
    if config.is_filtered:
        yield from ("log α, log u", "acceptance")
        yield from ("early rejection",) if config.early_rejection else ()
    yield "abstention"
    if config.largest_size > 1:
        yield from _of_disagreement(task)


def _of_disagreement(task: Task) -> Iterator[str]:
    is_label = task == "classification"
    yield from ("uncertain point", "entropy of the vote") if is_label else ("spread", "90 % range")
    yield "area under the risk curve"
    yield from ("calibration error", "Brier score", "log score") if is_label else ("rank correlation",)
    yield "oracle"
