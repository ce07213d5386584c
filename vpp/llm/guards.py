"""Refuses proposed texts that are no rule for a table: they repeat the prompt, break off, or fit another table.

A reason is sent back to the model, so it also says what to write instead. Words are compared without case and
punctuation; an underscore counts as a space.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.data.dataset import Dataset
from vpp.llm.answers import shortened
from vpp.llm.conversation import REFUSED
from vpp.llm.forms import optimizer_form


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without punctuation; underscores separate words."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.casefold())


CONTINUING = frozenset(
    words(
        "a an the and or but nor if when whenever where unless because while whether than then which is are was were "
        "be been has have had of to at by for from with without between into as per its their this these those"
    )
)
"""Words that no sentence ends with."""
FUNCTION_WORDS = CONTINUING.union(words("not no none else otherwise any all each every both one other it on in so"))
COMPUTED = frozenset(
    words(
        "sum total product point distance radius circle origin half twice double mean average median constant parity "
        "remainder modulo mod difference maximum minimum larger smaller largest smallest integer integers digits "
        "numbers sequence coordinates result review sentence text zero one two even odd positive negative"
    )
)
"""Words for inputs without their names, and for values that are computed from them."""
_CONDITION = frozenset(words("if when whenever unless where whereas otherwise else whose always never answer"))
_DESCRIBING = frozenset(words("good bad low medium high positive negative early late small large young old yes no"))
"""Labels that may also describe an input, or say whether a condition holds."""
_OPEN_END = re.compile(r"(?:[,:(\[{“‘«]|…|\.\.\.|\s[=<>≤≥+*/]|\([^()\]]*|^[^\"]*\"[^\"]*)\Z")
_MARKS = re.compile(
    r"<<<|>>>|<\|[^|<>\n]{1,30}\|>|\[/?INST\]|^\s{0,8}(?:user|assistant|system):|current rule:|correct outputs:"
    rf"|(?:^|\s)\[1\](?=[\s\S]{{1,60}}\[2\])|{re.escape(REFUSED)}|\(the rule gave\b",
    re.IGNORECASE | re.MULTILINE,
)
_PAIR = re.compile(r"(?:^|(?<=[,;]))[ \t]{0,4}([^\W\d_][^\n,;:.>]{0,60}):[ \t]{1,4}[^\s,;:]", re.MULTILINE)
"""A column and the beginning of its value in a worked example."""
MOST_LISTED = 100
"""Maximum names, categories or labels in a pattern."""


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
        is_parent = bool(tokens) and tokens == words(parent.removeprefix(self.seed_text))
        return None if is_parent else next(self._faults(rule, tokens, parent), None)

    def _faults(self, rule: str, tokens: Sequence[str], parent: str) -> Iterator[str]:
        if {*tokens} <= {*words(self.seed_text), *FUNCTION_WORDS} and self._own_words.isdisjoint(tokens):
            yield "it only repeats the task: say which inputs give which output"
        marks, known = (mark[0].strip() for mark in _MARKS.finditer(rule)), f"{self._texts}\n{parent.casefold()}"
        if mark := next((mark for mark in marks if mark.casefold() not in known), None):
            yield f"it holds “{shortened(mark)}”, a mark of the prompt: write the rule alone, in words"
        if _is_unfinished(rule.rstrip(" *_`\n"), self.dataset, self._texts):
            end = shortened(" ".join(rule[-80:].split()[-3:]))
            yield f"it stops in mid-sentence (“{end}”): write one short, complete sentence"
        if leak := self._leak(rule, tokens, parent):
            yield f"it speaks of '{shortened(leak)}', a word of the examples: use this table's columns and labels alone"
        if any(pattern.search(rule) for pattern in self._target_uses):
            name = shortened(self.dataset.target)
            yield f"it needs {name} to be known, which is to be predicted: use the input columns alone"
        if self.dataset.classes:
            yield from self._label_faults(rule)
        names_output = self._names_label(rule) if self.dataset.classes else any(sign.isdigit() for sign in rule)
        if not (names_output or self._names_input(tokens)):
            yield "it names no column and no output: say which inputs give which output"
        of_rules = {*_CONDITION, *COMPUTED, *words(self._texts), *(["for"] if names_output else [])} - self._label_words
        if "rule" in tokens and of_rules.isdisjoint(set(tokens) - FUNCTION_WORDS):
            yield "it only speaks of a rule: say which inputs give which output"

    def _label_faults(self, rule: str) -> Iterator[str]:
        labels = ", ".join(map(shortened, self.dataset.classes[:10]))
        if not (self._names_label(rule) or self._can_compute(rule)):
            yield f"it names no label: say which inputs give which of {labels}"
        for name, cells in self._categories.items():
            listed = re.findall(rf"\b{_spelt(name)} (?:is|=) ((?:(?:{_any_of(cells)})\b,? ?(?:or )?)+)", rule, re.I)
            if len(cells) > 1 and any({*words(each)} >= {*words(" ".join(cells))} for each in listed):
                yield f"it lists every value of {shortened(name)}, so it gives one answer to all rows: tell them apart"

    def _leak(self, rule: str, tokens: Sequence[str], parent: str) -> str | None:
        """Return a column of the examples in a rule that names none of the table, or that compares this one."""
        compared = re.findall(r"(?:\b(?:if|when|and|or) |[*+] ?)(\w+)(?= (?:is|=|<|>|\+)|\s*\.?\Z)", rule.casefold())
        used = compared if _of_kind(self.dataset, "text") or self._names_input(tokens) else tokens
        return next((word for word in used if word in self._example_words.difference(words(parent))), None)

    def _names_input(self, tokens: Sequence[str]) -> bool:
        return not COMPUTED.isdisjoint(tokens) or _any_alike(tokens, self._input_words)

    def _names_label(self, rule: str) -> bool:
        """Return whether the rule names a label, or a form of a word that not all labels have but its adverb."""
        own = self._label_words.difference(frozenset.intersection(*(frozenset(words(c)) for c in self.dataset.classes)))
        tokens = [word for word in words(rule) if word in own or not word.endswith("ly")]
        plain = [c.casefold() for c in self.dataset.classes if own.isdisjoint(words(c)) or not rule.isascii()]
        text = " ".join(words(rule))
        return _any_alike(tokens, own) or any(" ".join(words(c)) in text if words(c) else c in rule for c in plain)

    # --- derived once, on first use ---------------------------------------------------------------------------------

    @cached_property
    def _input_words(self) -> frozenset[str]:
        """Words of the inputs' names and descriptions."""
        said = " ".join(text for name, text in self.dataset.descriptions.columns if name in self.dataset.inputs)
        return frozenset(words(said)).difference(FUNCTION_WORDS).union(*map(words, self.dataset.inputs))

    @cached_property
    def _label_words(self) -> frozenset[str]:
        return frozenset(word for label in self.dataset.classes for word in words(label))

    @cached_property
    def _own_words(self) -> frozenset[str]:
        return self._label_words | (self._input_words - set(words(self.dataset.target)))

    @cached_property
    def _cells(self) -> list[tuple[str, str]]:
        """Training cells with their column: test rows are never shown to a model that writes rules."""
        return list(dict.fromkeys((name, cell) for row in self.dataset.train for name, cell in row.inputs if cell))

    @cached_property
    def _texts(self) -> str:
        """Names, labels and training cells."""
        names = (*self.dataset.inputs, self.dataset.target, *self.dataset.classes)
        return "\n".join((*names, *(cell for _, cell in self._cells))).casefold()

    @cached_property
    def _categories(self) -> dict[str, list[str]]:
        """Training cells of each input that holds categories."""
        return {name: [cell for at, cell in self._cells if at == name] for name in _of_kind(self.dataset, "category")}

    def _can_compute(self, rule: str) -> bool:
        """Return whether the rule computes its labels, or passes on cells ("answer with the colour")."""
        labels = {label.casefold() for label in self.dataset.classes}
        are_numbers = all(label.replace(".", "", 1).lstrip("+-").isdigit() for label in labels)
        computes = re.search("[=+*/]", rule) is not None or not COMPUTED.isdisjoint(words(rule))
        return (are_numbers and computes) or labels <= {cell.casefold() for _, cell in self._cells}

    @cached_property
    def _example_words(self) -> frozenset[str]:
        """Words of the columns in the worked examples that neither the table nor the instructions have."""
        named = {word for name in _PAIR.findall(self.examples) for word in words(name)}
        known = FUNCTION_WORDS.union(words(f"{self.instructions}\n{optimizer_form('text')}"))
        own = words(self._texts)
        return frozenset(word for word in named - known if not _any_alike([word], own))

    @cached_property
    def _target_uses(self) -> list[re.Pattern[str]]:
        """Patterns of rules that need the target: `if status is sick`, `if math is not rejected`.

        A text may say what the target is, so a table of texts alone has none.
        """
        target, texts = words(self.dataset.target), _of_kind(self.dataset, "text")
        if len(texts) == len(self.dataset.inputs) and any(map(str.isalpha, self._label_words)):
            return []
        cells = [cell for _, cell in self._cells]
        patterns = [*_labels_as_categories(self.dataset, self._categories, cells, is_of_text=bool(texts))]
        if target and not any({*target} <= {*words(name)} for name in self.dataset.inputs):
            name = rf"(?:the )?(?:\w+['’]s )?[\"'`]?{_spelt(self.dataset.target)}\b[\"'`]?(?: of (?:the|a) \w+)?"
            is_so = rf"{name}(?: is\b| has\b|[ ]?[=<>≤≥])"
            patterns.append(rf"\b(?:if|when|whenever|unless) {is_so}")
            patterns.append(rf"\b(?:if|when|unless) [^,;:\n]{{1,160}}?,? (?:and|or) {is_so}(?: \S+){{1,4}}?[,;]")
            patterns.append(rf"\b(?:use|look at|read|check) (?:the )?(?:column )?{name}(?: column| and\b)")
        return [re.compile(pattern, re.IGNORECASE) for pattern in patterns]


def _labels_as_categories(
    dataset: Dataset, categories: dict[str, list[str]], texts: Sequence[str], *, is_of_text: bool
) -> Iterator[str]:
    """Yield patterns of a label used as a value or a column: `if math is not rejected`, `if A and rejected is`."""
    classes = [c for c in dataset.classes if re.search(r"[^\W\d_]", c)]
    if not {*map(_spelt, classes)}.isdisjoint(map(_spelt, texts)):
        return
    yield rf"\A(?:the )?(?:{_any_of(dataset.inputs)}) (?:is|=) (?:{_any_of(classes)})\W*\Z"
    classes = [c for c in classes if not {*words(c)} <= _DESCRIBING]
    cells = [cell for each in categories.values() for cell in each]
    if not classes or not cells:
        return
    thing, label = rf"(?:{_any_of(categories)}|{_any_of(cells)})\b", rf"(?:{_any_of(classes)})\b"
    when, most = r"\b(?:if|when|unless) ", r"[^.,;:\n]{1,160}?"
    things = rf"(?:(?:the|any|other|both) ){{0,2}}{thing}(?: (?:and|or)\b| {thing}){{0,8}}"
    is_so = rf"(?:is|are|=) (?:(?:not|both|also|always|never) )?(?:{thing} or ){{0,3}}"
    yield rf"{when}(?:{most} (?:and|or) )?{things} {is_so}{label}(?=[.,;:]| (?:and|or|then|when)\b|\s*\Z)"
    if not is_of_text:
        yield rf"{when}{most} and {label}(?: (?:is|are|has|never|always)\b|,? (?:then|answer)\b)"


def _is_unfinished(rule: str, dataset: Dataset, texts: str) -> bool:
    """Return whether the rule ends in a bracket, a comma or a word such as `than`, as no sentence does."""
    is_word = (words(rule[-80:]) or [""])[-1] in CONTINUING.difference(words(texts))
    is_label = any(rule.rstrip("\"'”.").endswith(label) for label in dataset.classes if not words(label))
    has_stop = rule.endswith((".", "!", "?", "。")) and not rule.endswith("...")
    return not (has_stop or is_label) and (is_word or _OPEN_END.search(rule[-80:]) is not None)


def _of_kind(dataset: Dataset, kind: str) -> list[str]:
    return [each.name for each in dataset.columns if each.kind == kind and each.name in dataset.inputs]


def _any_alike(tokens: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether two words agree in their first four letters, or one of three letters begins the other."""
    starts, short = {word[:4] for word in known}, {word[:3] for word in known if len(word) > 2}
    return any(token[:4] in starts or (len(token) == 3 and token in short) or token[:3] in starts for token in tokens)


def _spelt(text: str) -> str:
    """Return a pattern of the text's words, with any separators between them."""
    return r"[\W_]{1,3}".join(map(re.escape, words(text)))


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(sorted(filter(None, map(_spelt, texts)), key=len, reverse=True)[:MOST_LISTED]) or "(?!)"
