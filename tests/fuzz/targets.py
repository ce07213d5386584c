"""What is fuzzed: each target takes bytes and raises where a promise is broken; what may be refused is refused inside.

A byte decides how the rest is read (see `choices`), so one form of input serves atheris, which changes bytes by what
they reach, and hypothesis. Seeds are what such bytes begin with.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.fuzz import asked, journals, programs, tables, texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A reader and what it is fed with first."""

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    longest: int = 4_096
    """Bytes of an input; what is stretched becomes longer."""
    share: float = 1.0
    """Of a campaign's time, beside the others."""
    examples: int = 40
    """Of the short form."""


TARGETS = (
    Target(name="table-text", check=tables.text, seeds=tables.text_seeds, share=2.0, examples=50),
    Target(name="table-parquet", check=tables.parquet, seeds=tables.parquet_seeds, longest=40_000),
    Target(name="table-workbook", check=tables.workbook, seeds=tables.workbook_seeds, examples=15),
    Target(name="table-options", check=tables.options, seeds=texts.plain_seeds),
    Target(name="journal-bytes", check=journals.by_bytes, seeds=journals.byte_seeds, longest=30_000, examples=12),
    Target(name="journal-records", check=journals.by_records, seeds=journals.choice_seeds, share=4.0, examples=40),
    Target(name="answers-file", check=journals.answers, seeds=journals.answer_seeds, examples=8),
    Target(name="run-files", check=journals.run_files, seeds=journals.choice_seeds, share=1.5, examples=20),
    Target(name="learner-answers", check=asked.learner, seeds=asked.answer_seeds, share=1.5, examples=80),
    Target(name="optimizer-answers", check=asked.optimizer, seeds=asked.rule_seeds, examples=60),
    Target(name="wire", check=asked.wire, seeds=asked.wire_seeds, examples=120),
    Target(name="templates", check=asked.templates, seeds=asked.template_seeds, examples=120),
    Target(name="cache-rows", check=asked.cache_rows, seeds=asked.cache_seeds, examples=120),
    Target(name="demo-rules", check=programs.rules, seeds=programs.rule_seeds, share=1.5),
    Target(name="demo-prompts", check=programs.prompts, seeds=programs.prompt_seeds),
    Target(name="settings-files", check=programs.settings_files, seeds=texts.plain_seeds, examples=120),
    Target(name="escaping", check=texts.escaping, seeds=texts.plain_seeds, examples=120),
    Target(name="word-diff", check=texts.word_diff, seeds=texts.plain_seeds),
    Target(name="similarity", check=texts.similarity, seeds=texts.plain_seeds),
)
BY_NAME = {target.name: target for target in TARGETS}
