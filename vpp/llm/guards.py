"""Refuses proposed texts that are no rule for a table: they repeat the prompt, name nothing, or need the target.

A reason is sent back to the model, so it also says what to write instead. Words are compared without case and
punctuation; an underscore counts as a space.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from vpp.data.dataset import Dataset
from vpp.llm.answers import shortened


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without punctuation; underscores separate words."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.casefold())


CONTINUING = frozenset(
    words(
        "a an the and or but nor if when whenever where unless because while whether than then which is are was were "
        "be been has have had of to at by for from with without between into as per its their this these those"
    )
)
"""Words that say nothing of a table."""
COMPUTED = frozenset(
    words(
        "sum total product point distance radius circle origin half twice double mean average median constant parity "
        "remainder modulo mod difference maximum minimum larger smaller largest smallest integer integers digits "
        "numbers sequence coordinates result review sentence text zero one two even odd positive negative"
    )
)
"""Words for inputs without their names, and for values that are computed from them."""
DESCRIBING = frozenset(words("good bad low medium high positive negative early late small large young old yes no"))
"""Labels that may also describe an input, or say whether a condition holds."""
_MARKS = re.compile(
    r"<<<|>>>|<\|[^|<>\n]{1,30}\|>|\[/?INST\]|^\s{0,8}(?:user|assistant|system):|current rule:|correct outputs:"
    r"|(?:^|\s)\[1\](?=[\s\S]{1,60}\[2\])|earlier answer was refused:|\(the rule gave\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """Checks proposed rules against the table and the prompt."""

    dataset: Dataset
    seed_text: str
    """The first words of every hypothesis."""

    def fault(self, rule: str, *, parent: str) -> str | None:
        """Return why `rule` is no rule and what to write instead, in one line; None if it may be one.

        rule: the text without the seed text. parent: the whole hypothesis it was written from, which it may repeat.
        """
        is_parent = words(rule) == words(parent.removeprefix(self.seed_text)) != []
        return None if is_parent else next(self._faults(rule, parent), None)

    def _faults(self, rule: str, parent: str) -> Iterator[str]:
        target, classes, tokens = self.dataset.target, self.dataset.classes, set(words(rule))
        if tokens <= {*words(self.seed_text), *CONTINUING} and not self._names_input(tokens - {*words(target)}):
            yield "it only repeats the task: say which inputs give which output"
        known, marks = f"{self._texts}\n{parent.casefold()}", (mark[0].strip() for mark in _MARKS.finditer(rule))
        if mark := next((mark for mark in marks if mark.casefold() not in known), None):
            yield f"it holds “{shortened(mark)}”, a mark of the prompt: write the rule alone, in words"
        if any(pattern.search(rule) for pattern in self._target_uses):
            yield f"it needs {shortened(target)} to be known, which is to be predicted: use the input columns alone"
        names_output = self._names_label(rule) if classes else any(sign.isdigit() for sign in rule)
        if classes and not names_output and not self._computes_labels(rule, tokens):
            yield f"it names no label: say which inputs give which of {', '.join(map(shortened, classes[:10]))}"
        if not names_output and not self._names_input(tokens):
            yield "it names no column and no output: say which inputs give which output"

    def _names_input(self, tokens: set[str]) -> bool:
        return not COMPUTED.isdisjoint(tokens) or _any_alike(tokens, self._input_words)

    def _names_label(self, rule: str) -> bool:
        """Return whether the rule names a label, or a word that not all labels have."""
        own = self._label_words - frozenset.intersection(*(frozenset(words(c)) for c in self.dataset.classes))
        gap = " " if rule.isascii() else ""  # between words, which not every script sets apart
        text = f"{gap}{' '.join(words(rule))}{gap}"
        whole = (f"{gap}{' '.join(words(c))}{gap}" in text if words(c) else c in rule for c in self.dataset.classes)
        return any(whole) or _any_alike(words(rule), own)

    def _computes_labels(self, rule: str, tokens: set[str]) -> bool:
        """Return whether the rule computes its labels, or passes on cells ("answer with the colour")."""
        labels = {label.casefold() for label in self.dataset.classes}
        are_numbers = all(label.replace(".", "", 1).lstrip("+-").isdigit() for label in labels)
        computes = re.search("[=+*/]", rule) is not None or not COMPUTED.isdisjoint(tokens)
        return (are_numbers and computes) or labels <= self._cells

    # --- derived once, on first use ---------------------------------------------------------------------------------

    @cached_property
    def _cells(self) -> frozenset[str]:
        """Training cells in lower case: test rows are never shown to a model that writes rules."""
        return frozenset(cell.casefold() for row in self.dataset.train for _, cell in row.inputs if cell)

    @cached_property
    def _texts(self) -> str:
        """Labels, names and training cells, a line each."""
        names = (*self.dataset.classes, *self.dataset.inputs, self.dataset.target)
        return "\n".join((*map(str.casefold, names), *self._cells))

    @cached_property
    def _label_words(self) -> frozenset[str]:
        return frozenset(word for label in self.dataset.classes for word in words(label))

    @cached_property
    def _input_words(self) -> frozenset[str]:
        """Words of the inputs' names and descriptions."""
        said = " ".join(text for name, text in self.dataset.descriptions.columns if name in self.dataset.inputs)
        return frozenset(words(said)).difference(CONTINUING).union(*map(words, self.dataset.inputs))

    @cached_property
    def _target_uses(self) -> list[re.Pattern[str]]:
        """Patterns of rules that need the target: `if status is sick`, `if math is not rejected`.

        A text may say what the target is, so a table of texts alone has none.
        """
        dataset, target = self.dataset, words(self.dataset.target)
        kinds = {column.name: column.kind for column in dataset.columns}
        if all(kinds[name] == "text" for name in dataset.inputs):
            return []
        patterns = []
        if target and not any({*target} <= {*words(name)} for name in dataset.inputs):
            name = rf"(?:the )?(?:\w+['’]s )?[\"'`]?{_spelt(dataset.target)}\b[\"'`]?"
            is_so = rf"{name}(?: of (?:the|a) \w+)?(?: is\b| has\b| ?[=<>≤≥])"
            patterns.append(rf"\b(?:if|when|whenever|unless) {is_so}")
            patterns.append(rf"\b(?:if|when|unless) [^,;:\n]{{1,160}}?,? (?:and|or) {is_so}(?: \S+){{1,4}}?[,;]")
            patterns.append(rf"\b(?:use|look at|read|check) (?:the )?(?:column )?{name}(?: column| and\b)")
        cells = {cell for row in dataset.train for name, cell in row.inputs if cell and kinds[name] == "category"}
        labels = [label for label in dataset.classes if not {*words(label)} <= DESCRIBING and not label.isdigit()]
        if labels and cells and self._cells.isdisjoint(map(str.casefold, labels)):
            thing, label = rf"(?:{_any_of((*dataset.inputs, *cells))})", rf"(?:{_any_of(labels)})"
            patterns.append(
                r"\b(?:if|when|unless) (?:[^.,;:\n]{1,160}? (?:and|or) )?(?:(?:the|any|other|both) ){0,2}"
                rf"{thing}(?: (?:(?:and|or) )?{thing}){{0,8}} (?:is|are|=) (?:(?:not|both|also|always|never) )?"
                rf"(?:{thing} or ){{0,3}}{label}(?=[.,;:]| (?:and|or)\b|\s*\Z)"
            )
        return [re.compile(pattern, re.IGNORECASE) for pattern in patterns]


def _any_alike(tokens: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether two words agree in their first four letters, or one of three letters begins the other."""
    starts, short = {word[:4] for word in known}, {word[:3] for word in known if len(word) > 2}
    return any(token[:4] in starts or (len(token) == 3 and token in short) or token[:3] in starts for token in tokens)


def _spelt(text: str) -> str:
    """Return a pattern of the text's words, with any separators between them."""
    return r"[\W_]{1,3}".join(map(re.escape, words(text)))


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, of at most 100 of them."""
    return "|".join(sorted(filter(None, map(_spelt, texts)), key=len, reverse=True)[:100]) or "(?!)"
