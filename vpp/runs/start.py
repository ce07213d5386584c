"""A person's own sentences as first hypotheses: read, checked, and made whole with the seed sentence."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vpp.data.answers import quoted
from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.llm.prompts import seed_sentence
from vpp.runs.spec import RunSpec
from vpp.settings import Config

MOST_CHARACTERS = 4_000
"""Longest sentence in characters: a learner's call carries it whole."""
LEAST_WEIGHT = 1e-100
A_PRIOR = "a positive number for each sentence, in their order, or a JSON object from sentence to number"
NAMED = 3
"""Most folded sentences that a note names by their numbers."""


def read_sentences(text: str, *, name: str) -> tuple[str, ...]:
    """Return the sentences, one a line, or the strings of a JSON list; empty lines are left out. Raises InputError."""
    lines = _listed(text, name=name) if text.lstrip().startswith("[") else text.splitlines()
    sentences = tuple(line.strip() for line in lines if line.strip())
    if not sentences:
        raise InputError(f"{name} has no sentence: write one a line")
    return sentences


def _listed(text: str, *, name: str) -> list[str]:
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{name} begins with [ and is no JSON list: write a sentence a line, or a list") from None
    if not all(isinstance(each, str) for each in listed):
        raise InputError(f"{name} is a JSON list with other things than strings: give a list of sentences")
    return list(listed)


def with_start(spec: RunSpec, dataset: Dataset) -> tuple[RunSpec, Dataset]:
    """Return both with the person's sentences as whole hypotheses, each once, and a note of those left out.

    A run that weighs sentences gets its options too. A continued run takes over its texts as they are. Raises
    InputError.
    """
    if spec.start and not spec.is_continued:
        whole = whole_texts(spec.start, seed_sentence(dataset, spec.config.prior))
        if again := repeated(whole):
            notes = (*dataset.provenance.notes, again)
            dataset = replace(dataset, provenance=replace(dataset.provenance, notes=notes))
        spec = replace(spec, start=tuple(dict.fromkeys(whole)))
    if spec.start_prior:
        spec = replace(spec, start_prior=shares(spec.start_prior, spec))
    if spec.config.is_weighing:
        spec = replace(spec, config=weighing(spec.config, size=len(spec.start), n_train=len(dataset.train)))
    return spec, dataset


def whole_texts(sentences: Sequence[str], seed_text: str) -> list[str]:
    """Return each sentence after the seed sentence, which it may begin with. Raises InputError."""
    return [whole_text(each, seed_text, name=f"sentence {number}") for number, each in enumerate(sentences, 1)]


def whole_text(sentence: str, seed_text: str, *, name: str) -> str:
    """Return the sentence after the seed sentence. name: names it in an error. Raises InputError."""
    body = sentence.strip().removeprefix(seed_text).strip()
    if not body:
        raise InputError(f"{name} is empty: write it, or leave it out")
    if len(body) > MOST_CHARACTERS:
        raise InputError(f"{name} has {len(body):,} characters: shorten it to at most {MOST_CHARACTERS:,}")
    return f"{seed_text} {body}"


def read_prior(text: str, sentences: Sequence[str]) -> tuple[float, ...]:
    """Return prior weights in the order of the sentences, from numbers with commas, or a JSON list or object.

    Raises InputError.
    """
    try:
        listed = json.loads(text if text.lstrip().startswith(("[", "{")) else f"[{text}]")
    except (ValueError, RecursionError):
        raise InputError(f"prior {quoted(text)} cannot be read: give {A_PRIOR}") from None
    return prior_weights(listed, sentences)


def prior_weights(given: Sequence[float] | Mapping[str, float], sentences: Sequence[str]) -> tuple[float, ...]:
    """Return positive weights, by sentence or in the order of the sentences, each once. Raises InputError."""
    different = list(dict.fromkeys(each.strip() for each in sentences))
    if isinstance(given, Mapping):
        weights = {sentence.strip(): weight for sentence, weight in given.items()}
        odd = next((each for each in (*weights, *different) if (each in weights) != (each in different)), None)
        if odd is not None:
            why = "has no weight" if odd in different else "is none of the sentences"
            raise InputError(f"prior: {quoted(odd)} {why}: give {A_PRIOR}")
        given = [weights[each] for each in different]
    if len(given) != len(different):
        raise InputError(f"prior has {len(given)} weights for {len(different)} sentences: give {A_PRIOR}")
    if not all(type(each) in (int, float) and LEAST_WEIGHT <= each <= 1 / LEAST_WEIGHT for each in given):
        raise InputError(f"prior has a weight that is no positive number: give {A_PRIOR}")
    return tuple(map(float, given))


def shares(weights: Sequence[float], spec: RunSpec) -> tuple[float, ...]:
    """Return prior weights divided by their sum. Raises InputError unless each sentence to weigh has one."""
    if not spec.config.is_weighing or len(weights) != len(spec.start):
        raise InputError(f"prior weights are for sentences that are only weighed: give {A_PRIOR}")
    whole = math.fsum(weights)
    return tuple(each / whole for each in weights)


def repeated(texts: Sequence[str]) -> str:
    """Return a note on texts that are there already; empty without any."""
    again = [str(i + 1) for i, text in enumerate(texts) if text in texts[:i]]
    if not again:
        return ""
    named = ", ".join(again[:NAMED]) + (f" and {len(again) - NAMED:,} more" if len(again) > NAMED else "")
    if len(again) == 1:
        return f"sentence {named} repeats an earlier one and counts once"
    return f"sentences {named} repeat earlier ones and count once"


def check_start(start: Sequence[str], config: Config, *, is_continued: bool) -> None:
    """Raise InputError for too many sentences, for none to weigh, or for a continued run with other than K texts."""
    if config.is_weighing and not start:
        raise InputError("there are no sentences to weigh: give them, one a line (--start FILE)")
    if is_continued and len(start) != config.size:
        raise InputError(
            f"{len(start)} hypotheses to begin with, and {config.size} particles: give one a particle, or change K"
        )
    if len(start) > config.size:
        raise InputError(
            f"{len(start)} sentences to start from, and {config.size} "
            f"{'particle' if config.size == 1 else 'particles'}: give fewer sentences, or a larger K"
        )


def weighing(config: Config, *, size: int, n_train: int) -> Config:
    """Return the options of one step that weighs `size` sentences on all rows with the likelihood itself.

    Nothing is resampled or rewritten.
    """
    return replace(
        config, particles=max(1, size), epochs=1, batch_size=n_train, tempering="incremental", beta_start=1.0
    )
