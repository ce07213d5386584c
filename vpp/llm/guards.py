"""Refuses proposed texts that are no rule for a table: they repeat the prompt, break off, or fit another table.

Each check compares a text with the prompt, with the table, or with itself; none looks for phrases of a particular
model. The reason is sent back to the model, so it also says what to write instead. Words are compared without case and
punctuation, and an underscore counts as a space: `Num_Publications` is `num publications`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.data.dataset import Dataset
from vpp.llm.forms import optimizer_form
from vpp.llm.leaks import ExampleWords
from vpp.llm.repetition import MOST_REPEATED, PromptText
from vpp.llm.rule_content import foreign_label, is_talk_of_rules, names_no_label, names_nothing
from vpp.llm.table_words import TableWords, shortened, words
from vpp.llm.target_use import target_uses


@dataclass(frozen=True, kw_only=True)
class Guard:
    """Checks proposed rules against the table and the prompt."""

    dataset: Dataset
    seed_text: str
    """The first words of every hypothesis."""
    instructions: str
    """All fixed words of the prompts: template, task and answer form, without rows and without a hypothesis."""
    examples: str
    """Worked examples of the templates; empty if there are none."""

    def fault(self, rule: str, *, parent: str) -> str | None:
        """Return why `rule` is no rule and what to write instead, in one line; None if it may be one.

        rule: the text without the seed text. parent: the whole hypothesis it was written from, which it may repeat.
        """
        tokens = words(rule)
        if tokens and tokens == words(parent.removeprefix(self.seed_text)):
            return None
        return (
            self._prompt_fault(rule, tokens, parent)
            or self._part(rule)
            or self._unfinished(rule)
            or self._leaked_example(rule, parent)
            or self._target_as_input(rule)
            or self._wrong_label(rule)
            or self._no_content(rule, tokens)
        )

    def _prompt_fault(self, rule: str, tokens: Sequence[str], parent: str) -> str | None:
        if self._prompt.is_task(tokens):
            return "it only repeats the task: say which inputs give which output"
        if mark := self._prompt.mark(rule, parent):
            return f"it holds “{shortened(mark)}”, a mark of the prompt: write the rule alone, in words"
        if self._prompt.share_repeated(tokens, parent) >= MOST_REPEATED:
            return "it repeats the instructions: write the rule itself, which inputs give which output"
        return None

    def _part(self, rule: str) -> str | None:
        """Refuse the rest of a word at the beginning, and `if all of the above` with nothing above it."""
        part = _PART.match(rule)
        if part is None or self.dataset.task == "regression":  # -log(x) is a rule for a number
            return None
        return f"it is only a part of a text (“{shortened(part[0])}”): write a rule that is complete in itself"

    def _unfinished(self, rule: str) -> str | None:
        """Refuse an end that no sentence has: an open bracket, a comma, or a word such as `than`."""
        bare = rule.rstrip().rstrip("*_`").rstrip()
        last = (words(bare[-80:]) or [""])[-1]
        has_stop = bare.endswith((".", "!", "?", "。")) and not bare.endswith("..")
        is_word = last in CONTINUING and last not in self._table.words and not has_stop
        is_open = _OPEN_END.search(bare[-80:]) and not self._ends_with_label(bare)
        if not (is_word or is_open or (not has_stop and _is_left_open(bare))):
            return None
        end = " ".join(bare[-80:].split()[-3:])
        return f"it stops in mid-sentence (“{shortened(end)}”): write one short, complete sentence"

    def _ends_with_label(self, rule: str) -> bool:
        """Return whether a label such as `+`, or a sentence with its own full stop, ends the rule."""
        labels = (label.split() for label in self.dataset.classes)
        return any(_bare(rule.split()[-len(label) :]) == _bare(label) for label in labels)

    def _leaked_example(self, rule: str, parent: str) -> str | None:
        leak = self._example_words.leak(rule, parent=parent)
        if leak is None and self._example_words.copies(rule, parent=parent):
            return "it is a rule of the examples with other labels: write what sets this table's outputs apart"
        if leak is None:
            return None
        return f"it speaks of '{shortened(leak)}', a word of the examples: use this table's columns and labels alone"

    def _target_as_input(self, rule: str) -> str | None:
        use = next(filter(None, (pattern.search(rule) for pattern in self._target_uses)), None)
        if use is None:
            return None
        name = shortened(use.groupdict().get("known") or self.dataset.target)
        return f"it needs {name} to be known, which is to be predicted: use the input columns alone"

    def _wrong_label(self, rule: str) -> str | None:
        if self.dataset.task != "classification":
            return None
        labels = ", ".join(map(shortened, self.dataset.classes[:10]))
        if foreign := foreign_label(rule, self._table):
            return f"it gives '{shortened(foreign)}', which is no label of this table: give one of {labels}"
        if names_no_label(rule, self._table):
            return f"it names no label: say which inputs give which of {labels}"
        return None

    def _no_content(self, rule: str, tokens: Sequence[str]) -> str | None:
        if names_nothing(rule, tokens, self._table):
            return "it names no column and no output: say which inputs give which output"
        if is_talk_of_rules(rule, tokens, self._table):
            return "it only speaks of a rule: say which inputs give which output"
        return None

    # --- derived once, on first use ---------------------------------------------------------------------------------

    @cached_property
    def _table(self) -> TableWords:
        return TableWords(dataset=self.dataset)

    @cached_property
    def _prompt(self) -> PromptText:
        return PromptText(table=self._table, seed_text=self.seed_text, instructions=self.instructions)

    @cached_property
    def _example_words(self) -> ExampleWords:
        fixed = f"{self.instructions}\n{optimizer_form('text')}"
        return ExampleWords.of(self.examples, table=self._table, instructions=fixed)

    @cached_property
    def _target_uses(self) -> tuple[re.Pattern[str], ...]:
        return target_uses(self._table)


_PART = re.compile(r"\A(?:[-,;)\]}][^\W\d_]{3,}|[^.,;:\n]*?\b(?:if|when)[ ]\w+[ ]of[ ]the[ ]above\b)")
_OPEN_END = re.compile(r"(?:[,:(\[{“‘«]|…|\.\.|\s[=<>≤≥+*/])\Z")
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”")
CONTINUING = frozenset(
    words(
        "a an the and or but nor if when whenever where unless because while whether than then which is are was "
        "were be been has have had of to at by for from with without between into as per its their this these "
        "those"
    )
)
"""Words that no sentence ends with."""


def _bare(tokens: Sequence[str]) -> str:
    return " ".join(tokens).strip("\"'`“”‘’.")


def _is_left_open(rule: str) -> bool:
    """Return whether a bracket or a double quote is opened and never closed; brackets inside quotes are text."""
    bare = _QUOTED.sub("", rule)
    if bare.count('"') % 2 or bare.count("“") > bare.count("”"):
        return '"' in bare[:-1] or "“" in bare
    last = max(map(bare.rfind, "([{"))
    return last >= 0 and not any(closing in bare[last:] for closing in ")]}")
