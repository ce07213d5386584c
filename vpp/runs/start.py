"""A person's own sentences as first hypotheses: read, checked, and made whole with the seed sentence."""

import json
from collections.abc import Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.llm.prompts import seed_sentence
from vpp.runs.spec import RunSpec
from vpp.settings import Config

MOST_CHARACTERS = 4_000
"""Longest sentence in characters: a learner's call carries it whole."""
NAMED = 3
"""Most folded sentences that a note names by their numbers."""


def read_sentences(text: str, *, name: str) -> tuple[str, ...]:
    """Return the sentences, one a line, or the strings of a JSON list; empty lines are left out. Raises InputError."""
    listed = _json_list(text)
    strings = [each for each in listed or () if isinstance(each, str)]
    if len(strings) < len(listed or ()):
        raise InputError(f"{name} is a JSON list with other things than strings: give a list of sentences")
    sentences = tuple(each.strip() for each in (text.splitlines() if listed is None else strings) if each.strip())
    if not sentences:
        raise InputError(f"{name} has no sentence: write one a line")
    return sentences


def _json_list(text: str) -> list[object] | None:
    """Return the list; None if the text is no JSON list."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


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
    if spec.config.is_weighing:
        spec = replace(spec, config=weighing(spec.config, size=len(spec.start), n_train=len(dataset.train)))
    return spec, dataset


def whole_texts(sentences: Sequence[str], seed_text: str) -> list[str]:
    """Return each sentence after the seed sentence, which it may begin with. Raises InputError."""
    bodies = [each.strip().removeprefix(seed_text).strip() for each in sentences]
    for number, body in enumerate(bodies, 1):
        if not body:
            raise InputError(f"sentence {number} is empty: leave it out")
        if len(body) > MOST_CHARACTERS:
            raise InputError(
                f"sentence {number} has {len(body):,} characters: shorten it to at most {MOST_CHARACTERS:,}"
            )
    return [f"{seed_text} {body}" for body in bodies]


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

    Nothing is resampled or rewritten: there are no copies.
    """
    return replace(
        config,
        particles=max(1, size),
        epochs=1,
        batch_size=n_train,
        tempering="incremental",
        beta_start=1.0,
        beta_end=1.0,
        ess_threshold=0.0,
        mutate="duplicates",
    )
