"""Finds text of the prompt in a proposed rule: the task, its instructions, and its fences, headings and row numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.data.answers import shown_label
from vpp.data.columns import is_number
from vpp.llm.conversation import REFUSED
from vpp.llm.table_words import FUNCTION_WORDS, TableWords, words

RUN = 5
"""Consecutive words that make a repetition: rules share runs of up to four with our prompts ("the output is 1 if")."""
MOST_REPEATED = 0.5
"""Share of a rule's own words that may repeat the instructions.

Real bad texts lie between 0.6 (an instruction, begun and then rephrased) and 1 (the answer form's placeholder, also
behind half a rule). Rules of people and of the demo model have 0, since words of the table and the parent do not count.
"""
WORD_LIMIT = 12
"""Maximum words of a heading; longer lines are sentences."""


@dataclass(frozen=True, kw_only=True)
class PromptText:
    """The prompt's own text, to compare rules with."""

    table: TableWords
    seed_text: str
    instructions: str

    def is_task(self, tokens: Sequence[str]) -> bool:
        """Return whether the rule is the seed text in another spacing, case, punctuation or order."""
        task = words(self.seed_text)
        own = self.table.labels | (self.table.inputs - set(words(self.table.dataset.target)))
        is_rearranged = set(tokens) <= {*task, *FUNCTION_WORDS} and own.isdisjoint(tokens)
        return tokens == task or is_rearranged

    def share_repeated(self, tokens: Sequence[str], parent: str) -> float:
        """Return the share of words in runs that the instructions have; words of table and parent do not count."""
        of_parent = _places_in_runs(tokens, _runs(words(parent)))
        of_table = self.table.inputs | self.table.labels
        counted = [n for n, word in enumerate(tokens) if n not in of_parent and word not in of_table]
        repeated = _places_in_runs(tokens, self._instruction_runs)
        return sum(n in repeated for n in counted) / len(counted) if counted else 0.0

    @cached_property
    def _instruction_runs(self) -> frozenset[tuple[str, ...]]:
        return _runs(words(self.instructions))

    def mark(self, rule: str, parent: str) -> str | None:
        """Return a fence, a heading, a row number or a chat mark of the prompt that neither table nor parent has."""
        own = parent.casefold()
        return next(
            (mark for mark in self._marks(rule) if not (self.table.holds(mark) or mark.casefold() in own)), None
        )

    def _marks(self, rule: str) -> Iterator[str]:
        yield from (mark[0].strip() for mark in _MARKS.finditer(rule))
        yield from (heading for heading in self._headings if heading in rule.casefold())
        yield from self._numbered_answers(rule)

    def _numbered_answers(self, rule: str) -> Iterator[str]:
        """Yield the first number of `[1] admitted [2] rejected`: several numbered rows, each with an output alone."""
        rows = [words(part) for part in _ROW_NUMBER.split(rule)[1:]]
        answers = [row for row in rows if not row or (" ".join(row) in self._answers) or all(map(is_number, row))]
        if len(answers) >= 2:
            yield _ROW_NUMBER.findall(rule)[0]

    @cached_property
    def _headings(self) -> tuple[str, ...]:
        """Headings of the prompt with two words or more, in lower case: `current rule:`."""
        lines = (line.strip().casefold() for line in self.instructions.splitlines())
        headings = [line for line in lines if line.endswith(":") and 2 <= len(words(line)) <= WORD_LIMIT]
        return tuple(dict.fromkeys((*headings, "current rule:", "correct outputs:", REFUSED.casefold())))

    @cached_property
    def _answers(self) -> frozenset[str]:
        """Outputs that a numbered line of the prompt may show, as words."""
        labels = self.table.dataset.classes
        return frozenset(" ".join(words(shown_label(label))) for label in labels) | {"no answer"}


def _runs(tokens: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(tokens[n : n + RUN]) for n in range(len(tokens) - RUN + 1))


def _places_in_runs(tokens: Sequence[str], runs: frozenset[tuple[str, ...]]) -> frozenset[int]:
    """Return the indices of words that lie in one of the runs."""
    begins = (n for n in range(len(tokens) - RUN + 1) if tuple(tokens[n : n + RUN]) in runs)
    return frozenset(place for begin in begins for place in range(begin, begin + RUN))


_MARKS = re.compile(
    r"""<<<|>>> | <\|[^|<>\n]{1,30}\|> | \[/?INST\] | <</?SYS>> | </?(?:start|end)_of_turn>
      | ^[ \t]{0,8}(?:\#{1,4}[ ])?(?:user|assistant|system|human)[ ]?:
      | \(the[ ]rule[ ]gave\b[^()\n]{0,30}""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_ROW_NUMBER = re.compile(r"(?:(?<=\s)|^)\[\d{1,4}\]")
