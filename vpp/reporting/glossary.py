"""The words that a report uses, each in a sentence; only those that the run's method has."""

from collections.abc import Iterator

from vpp.data.dataset import Task
from vpp.reporting.markdown_findings import NEAR
from vpp.settings import Config
from vpp.wording.words import percent


def glossary(config: Config, task: Task) -> Iterator[str]:
    """A list in markdown."""
    yield "\n".join(f"- **{term}**: {meaning}" for term, meaning in terms(config, task))


def terms(config: Config, task: Task) -> Iterator[tuple[str, str]]:
    """(Term, meaning), from what is sampled to what is predicted."""
    yield "hypothesis", "a sentence that says how to predict the target from the inputs."
    yield "particle", "a place, numbered from 0, that holds one hypothesis at a time."
    if config.largest_size > 1:
        yield "idea", "all hypotheses that give the same answers to every row compared, however they are worded."
    if config.is_weighted:
        yield from _of_weights(config)
        yield "explanation", f"ideas of which any two agree on at least {percent(NEAR)}, as their section says."
        yield "living descendant", "a particle of the last population that came, step by step, from a first hypothesis."
    yield "log-likelihood", _likelihood(task)
    if config.is_filtered:
        tempered = ", times φ" if config.is_telescoping else ""
        yield (
            "log α, log u",
            f"a proposal is accepted when log α, its log-likelihood less that of the text it would replace{tempered} "
            "and at most 0, is not below log u, the logarithm of a random number between 0 and 1.",
        )
    yield "abstention", "an answer that could not be read after every re-ask; it is never left out of a count."
    if config.largest_size > 1:
        yield from _of_disagreement(task)


def _of_weights(config: Config) -> Iterator[tuple[str, str]]:
    yield "weight", "the share of the posterior that a particle holds; all weights sum to 1."
    yield "ESS", "effective sample size: by how many particles of equal weight the population could be replaced."
    if config.is_telescoping:
        yield "φ", "exponent of the likelihood, from 0, the prior, to 1, the posterior; φ = 1/β."
        yield "log evidence", "natural logarithm of the average likelihood of the training rows under the first draw."
    else:
        yield "β", "tempering: it divides the log-likelihood before weights are made, so 10 is flat and 1 is sharp."
    yield "resampling", "copying particles by weight, so that light ones end; afterwards all weights are equal."


def _likelihood(task: Task) -> str:
    if task == "classification":
        return "natural logarithm; a row adds log(1 − ε) where the answer is right and log ε where it is wrong."
    return "natural logarithm; a row adds minus the squared error over 2τ."


def _of_disagreement(task: Task) -> Iterator[tuple[str, str]]:
    if task == "classification":
        yield "uncertain point", "a test row on which the particles that answered are not unanimous, or none answered."
        yield "entropy of the vote", "how divided the weights are over the labels, in bits: 0 where all say the same."
    else:
        yield "spread", "weighted standard deviation of the particles' numbers, in the target's unit."
    yield (
        "area under the risk curve",
        "mean error where only the most certain rows are answered, over every share of rows; lower is better.",
    )
    if task == "classification":
        yield "Brier score", "squared distance of the vote's shares from the truth, from 0 to 2; lower is better."
        yield "log score", "mean −log₂ of the share that the truth has, in bits; lower is better."
    yield "oracle", "a choice made after seeing the test rows: a bound, not something one could have had."
