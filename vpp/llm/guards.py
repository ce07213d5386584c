"""Says why a proposed text is no rule for a table: it repeats the prompt, breaks off, or speaks of another table.

Each check compares the text with what the model was sent, with the table, or with itself; none looks for phrases that
some model happened to write. A reason is sent back to the model, so it also says what to write instead. Words are
compared without case and punctuation, underscores as spaces: `Num_Publications` is `num publications`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.data.answers import shown_label
from vpp.data.dataset import Dataset
from vpp.data.kinds import is_number
from vpp.llm.conversation import REFUSED
from vpp.llm.empty_talk import is_talk_of_rules, names_nothing
from vpp.llm.given_labels import foreign_label, names_no_label
from vpp.llm.leaks import ExampleWords
from vpp.llm.prompts import optimizer_answer_form
from vpp.llm.table_words import FUNCTION_WORDS, TableWords, shortened, words
from vpp.llm.target_use import target_uses

RUN = 5
"""Consecutive words that make a repetition: rules share runs of up to four with our prompts ("the output is 1 if")."""
MOST_REPEATED = 0.5
"""Share of a rule's own words that may repeat the instructions.

Real bad texts lie between 0.6 (an instruction, begun and then rephrased) and 1 (the answer form's placeholder, also
behind half a rule); rules that people and the demo model write are at 0, since words of the table and of the parent
are not counted.
"""
WORD_LIMIT = 12
"""Words of a heading, a name or a value of an example; longer lines are sentences."""


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What was sent, against which a proposed rule is checked."""

    dataset: Dataset
    seed_text: str
    """The first words of every hypothesis."""
    instructions: str
    """All fixed words of the prompts: template, task and answer form, without rows and without a hypothesis."""
    examples: str
    """Text of the template's worked examples; empty where it has none."""

    def fault(self, rule: str, *, parent: str) -> str | None:
        """Why `rule` is no hypothesis and what to write instead, in one line; None where it may be one.

        rule: the text without the seed text. parent: the whole hypothesis it was written from; repeating it is allowed.
        """
        said = words(rule)
        if said and said == words(parent.removeprefix(self.seed_text)):
            return None
        return (
            self._repeated_task(said)
            or self._mark(rule, parent)
            or self._repeated_instructions(said, parent)
            or self._unfinished(rule)
            or self._leaked_example(rule, parent)
            or self._asked_target(rule)
            or self._wrong_label(rule)
            or self._empty_talk(rule, said)
        )

    # --- what was sent ----------------------------------------------------------------------------------------------

    def _repeated_task(self, said: Sequence[str]) -> str | None:
        """The seed text in another spacing, case, punctuation or order."""
        task = words(self.seed_text)
        own = self._table.labels | (self._table.inputs - set(words(self.dataset.target)))
        is_rearranged = set(said) <= {*task, *FUNCTION_WORDS} and own.isdisjoint(said)
        if said == task or is_rearranged:
            return "it only repeats the task: say which inputs give which output"
        return None

    def _mark(self, rule: str, parent: str) -> str | None:
        """A fence, a heading, a row number or a wrong answer's note of the prompt, or a mark of a chat."""
        mark = next((found for found in self._marks(rule) if not self._is_own(found, parent)), None)
        if mark is None:
            return None
        return f"it holds “{shortened(mark)}”, a mark of the prompt: write the rule alone, in words"

    def _marks(self, rule: str) -> Iterator[str]:
        yield from (found[0].strip() for found in _MARKS.finditer(rule))
        yield from (heading for heading in self._headings if heading in rule.casefold())
        yield from self._numbered_answers(rule)

    def _numbered_answers(self, rule: str) -> Iterator[str]:
        """`[1] admitted [2] rejected`: two numbered rows or more, each with an output and nothing else."""
        parts = _ROW_NUMBER.split(rule)
        answers = [words(part) for part in parts[1:]]
        given = [a for a in answers if not a or (" ".join(a) in self._answers) or all(map(is_number, a))]
        if len(given) >= 2:
            yield _ROW_NUMBER.findall(rule)[0]

    def _is_own(self, mark: str, parent: str) -> bool:
        """Whether the table or the parent hypothesis has this mark too."""
        return self._table.holds(mark) or mark.casefold() in parent.casefold()

    @cached_property
    def _headings(self) -> tuple[str, ...]:
        """`current rule:`: headings of the prompt of two words or more, in lower case."""
        lines = (line.strip().casefold() for line in self.instructions.splitlines())
        found = [line for line in lines if line.endswith(":") and 2 <= len(words(line)) <= WORD_LIMIT]
        return tuple(dict.fromkeys((*found, "current rule:", "correct outputs:", REFUSED.casefold())))

    @cached_property
    def _answers(self) -> frozenset[str]:
        """What a numbered line of the prompt may show, as words."""
        return frozenset(" ".join(words(shown_label(label))) for label in self.dataset.classes) | {"no answer"}

    def _repeated_instructions(self, said: Sequence[str], parent: str) -> str | None:
        """Too many words in runs that the instructions hold, words of the table and the parent not counted."""
        of_parent = _in_runs(said, _runs(words(parent)))
        counted = [n for n, word in enumerate(said) if n not in of_parent and word not in self._names]
        repeated = _in_runs(said, self._instruction_runs)
        share = sum(n in repeated for n in counted) / len(counted) if counted else 0.0
        if share < MOST_REPEATED:
            return None
        return "it repeats the instructions: write the rule itself, which inputs give which output"

    @cached_property
    def _names(self) -> frozenset[str]:
        return self._table.inputs | self._table.labels

    @cached_property
    def _instruction_runs(self) -> frozenset[tuple[str, ...]]:
        return _runs(words(self.instructions))

    @cached_property
    def _table(self) -> TableWords:
        return TableWords.of(self.dataset)

    def _leaked_example(self, rule: str, parent: str) -> str | None:
        """A name, a value or a label of the worked examples that this table does not have."""
        leak = self._example_words.leak(rule, parent=parent)
        if leak is None:
            return None
        return f"it speaks of '{shortened(leak)}', a word of the examples: use this table's columns and labels alone"

    @cached_property
    def _example_words(self) -> ExampleWords:
        fixed = f"{self.instructions}\n{optimizer_answer_form()}"
        return ExampleWords.of(self.examples, table=self._table, instructions=fixed)

    # --- the text itself ---------------------------------------------------------------------------------------------

    def _unfinished(self, rule: str) -> str | None:
        """An end that no sentence has: an open bracket, a comma, or a word such as `than`."""
        bare = rule.rstrip().rstrip("*_`").rstrip()
        last = (words(bare[-80:]) or [""])[-1]
        has_stop = bare.endswith((".", "!", "?", "。")) and not bare.endswith("..")
        is_word = last in CONTINUING and last not in self._table.words and not has_stop
        is_open = _OPEN_END.search(bare[-80:]) and not self._is_label(bare.split()[-1])
        if not (is_word or is_open or (not has_stop and _is_left_open(bare))):
            return None
        end = " ".join(bare[-80:].split()[-3:])
        return f"it stops in mid-sentence (“{shortened(end)}”): write one short, complete sentence"

    def _is_label(self, end: str) -> bool:
        """Whether a rule may end so because it is a label: `+`."""
        return end.strip("\"'`“”‘’") in self.dataset.classes

    # --- the table ---------------------------------------------------------------------------------------------------

    def _asked_target(self, rule: str) -> str | None:
        """The target used as if it were an input."""
        if not any(pattern.search(rule) for pattern in self._target_uses):
            return None
        name = shortened(self.dataset.target)
        return f"it needs {name} to be known, which is to be predicted: use the input columns alone"

    @cached_property
    def _target_uses(self) -> tuple[re.Pattern[str], ...]:
        return target_uses(self._table)

    def _wrong_label(self, rule: str) -> str | None:
        """A label that the table does not have, or none at all."""
        if self.dataset.task != "classification":
            return None
        labels = ", ".join(shortened(label, 40) for label in self.dataset.classes[:10])
        if foreign := foreign_label(rule, self._table):
            return f"it gives '{shortened(foreign)}', which is no label of this table: give one of {labels}"
        if names_no_label(rule, self._table):
            return f"it names no label: say which inputs give which of {labels}"
        return None

    def _empty_talk(self, rule: str, said: Sequence[str]) -> str | None:
        """Neither a column nor an output, or praise of a rule."""
        if names_nothing(rule, said, self._table):
            return "it names no column and no output: say which inputs give which output"
        if is_talk_of_rules(rule, said, self._table):
            return "it only speaks of a rule: say which inputs give which output"
        return None


# --- repetition -------------------------------------------------------------------------------------------------------


def _runs(said: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(said[n : n + RUN]) for n in range(len(said) - RUN + 1))


def _in_runs(said: Sequence[str], runs: frozenset[tuple[str, ...]]) -> frozenset[int]:
    """Places of words that lie in one of the runs."""
    begins = (n for n in range(len(said) - RUN + 1) if tuple(said[n : n + RUN]) in runs)
    return frozenset(place for begin in begins for place in range(begin, begin + RUN))


# --- marks and ends ---------------------------------------------------------------------------------------------------

_MARKS = re.compile(
    r"""<<<|>>> | <\|[^|<>\n]{1,30}\|> | \[/?INST\] | <</?SYS>> | </?(?:start|end)_of_turn>
      | ^[ \t]{0,8}(?:\#{1,4}[ ])?(?:user|assistant|system|human)[ ]?:
      | \(the[ ]rule[ ]gave\b[^()\n]{0,30}""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_ROW_NUMBER = re.compile(r"(?:(?<=\s)|^)\[\d{1,4}\]")
_OPEN_END = re.compile(r"(?:[,:(\[{“‘«]|…|\.\.|\s[=<>≤≥+*/])\Z")
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”")
CONTINUING = frozenset(
    words(
        "a an the and or but nor if when whenever where unless because while whether than then which is are was "
        "were be been has have had of to at by for from with without between into as per its their this these "
        "those"
    )
)
"""Words after which a sentence must go on."""


def _is_left_open(rule: str) -> bool:
    """Whether a bracket or a double quote is opened and never closed; brackets inside quotes are text."""
    bare = _QUOTED.sub("", rule)
    if bare.count('"') % 2 or bare.count("“") > bare.count("”"):
        return '"' in bare[:-1] or "“" in bare
    last = max(map(bare.rfind, "([{"))
    return last >= 0 and not any(closing in bare[last:] for closing in ")]}")
