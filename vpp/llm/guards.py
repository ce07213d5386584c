"""Refuses proposed texts that are no rule for a table: they repeat the prompt, break off, or fit another table.

Each check compares a text with the prompt, with the table, or with itself; none looks for phrases of a particular
model. The reason is sent back to the model, so it also says what to write instead. Words are compared without case and
punctuation, and an underscore counts as a space: `Num_Publications` is `num publications`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from vpp.data.answers import match_label, shown_label
from vpp.data.columns import is_number
from vpp.data.dataset import Dataset
from vpp.llm.answers import is_truth_word, shortened
from vpp.llm.conversation import REFUSED
from vpp.llm.forms import optimizer_form

# --- the words of a table: names of columns, labels and cells --------------------------------------------------------

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which are written without spaces."""
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)*")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]+")
STEM = 4
"""Letters that two forms of one word share at their start."""


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without punctuation; underscores separate words."""
    return _WORD.findall(text.casefold())


FUNCTION_WORDS = frozenset(
    words(
        "a an the and or but nor not no none if when whenever where unless because while whether than then else "
        "otherwise which who that this these those it its is are was were be been being has have had do does did "
        "of to at by for from with without in on off over under above below between into as per so such any all "
        "every each both one other i you we they he she there here what how will would can could should must may "
        "might only also"
    )
)
"""Words that say nothing about a table; a column or label may still have such a name."""
INPUT_NOUNS = frozenset(
    words(
        "integer integers digit digits number numbers sequence value values item items column coordinate coordinates "
        "text review sentence"
    )
)
"""Words for inputs without their names: "the first of the integers"."""
COMPUTED = frozenset(
    words(
        "sum total product point distance radius circle origin half twice double triple mean average median constant "
        "parity remainder quotient modulo mod difference ratio maximum minimum max min larger smaller largest smallest"
    )
)
"""Words for values computed from inputs: "the sum of a and b"."""
_INPUTS_BY_PLACE = INPUT_NOUNS | frozenset(words("sum total product point distance radius circle origin"))


def phrase(text: str) -> str:
    """Return the words between single spaces, with one at each end, so that `in` compares whole words."""
    return f" {' '.join(words(text))} "


def spelt(text: str) -> str:
    """Return a pattern of the text's words, with any separators between them."""
    return r"[\W_]{1,3}".join(map(re.escape, words(text)))


def are_alike(one: str, other: str) -> bool:
    """Return whether they may be forms of one word: admit and admitted, pos and positive."""
    short, long = sorted((one, other), key=len)
    is_start = len(short) >= STEM - 1 and long.startswith(short)
    return one == other or is_start or (len(short) >= STEM and one[:STEM] == other[:STEM])


@dataclass(frozen=True, kw_only=True)
class TableWords:
    """Words of one table, from its training rows: test rows are never shown to a model that writes rules."""

    dataset: Dataset

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Words of the input columns' names, and words of their descriptions that say something about a table."""
        meanings = (text for name, text in self.dataset.descriptions.columns if name in self.dataset.inputs)
        said = {word for text in meanings for word in words(text)} - FUNCTION_WORDS - INPUT_NOUNS
        return frozenset(said.union(*map(words, self.dataset.inputs)))

    @cached_property
    def labels(self) -> frozenset[str]:
        """Words of the labels."""
        return frozenset(word for label in self.dataset.classes for word in words(label))

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of all names, labels and training cells."""
        cells = {cell for row in self.dataset.train for _, cell in row.inputs if cell}
        of_cells = (word for cell in cells for word in words(cell))
        return frozenset((*self.inputs, *self.labels, *words(self.dataset.target), *of_cells))

    @cached_property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the input columns that hold free text."""
        return self._inputs_of_kind("text")

    @cached_property
    def category_columns(self) -> tuple[str, ...]:
        """Names of the input columns that hold categories."""
        return self._inputs_of_kind("category")

    def _inputs_of_kind(self, kind: str) -> tuple[str, ...]:
        names = {column.name for column in self.dataset.columns if column.kind == kind}
        return tuple(name for name in self.dataset.inputs if name in names)

    @cached_property
    def categories(self) -> frozenset[str]:
        """Training cells of the category columns, as phrases."""
        named = (pair for row in self.dataset.train for pair in row.inputs if pair[0] in self.category_columns)
        cells = {cell for _, cell in named if cell and not FUNCTION_WORDS.issuperset(words(cell))}
        return frozenset(map(phrase, cells))

    def has_category(self, text: str) -> bool:
        """Return whether `text` names a category of a column."""
        whole = phrase(text)
        return any(category in whole for category in self.categories)

    @cached_property
    def are_labels_numbers(self) -> bool:
        """Return whether every label is a number, which a rule may compute instead of naming it."""
        return all(label.strip().replace(".", "", 1).lstrip("+-").isdigit() for label in self.dataset.classes)

    @cached_property
    def are_labels_cells(self) -> bool:
        """Return whether every label is a value of an input, which a rule may pass on: "answer with the colour"."""
        labels = {label.casefold() for label in self.dataset.classes}
        return labels <= {cell.casefold() for row in self.dataset.train for _, cell in row.inputs if cell}

    def holds(self, mark: str) -> bool:
        """Return whether a name, a label or a training cell contains this text, in any case."""
        sought = mark.casefold()
        names = (*self.dataset.inputs, self.dataset.target, *self.dataset.classes)
        cells = (cell for row in self.dataset.train for _, cell in row.inputs if cell)
        return any(sought in text.casefold() for text in chain(names, cells))

    def has_column(self, tokens: Sequence[str]) -> bool:
        """Return whether a word may mean an input: a word of a column's name, or a common word for inputs."""
        return not _INPUTS_BY_PLACE.isdisjoint(tokens) or _any_alike(tokens, self.inputs)

    def has_label(self, text: str) -> bool:
        """Return whether `text` names a label, a distinctive word of one, or a form of such a word but its adverb."""
        shared = frozenset.intersection(*(frozenset(words(label)) for label in self.dataset.classes))
        own = self.labels - shared
        tokens = [word for word in words(text) if word in own or not word.endswith("ly")]
        if _any_alike(tokens, own):
            return True
        whole = phrase(text)
        plain = (label for label in self.dataset.classes if own.isdisjoint(words(label)))
        return any(phrase(label) in whole if words(label) else label.strip() in text for label in plain)


def _any_alike(tokens: Iterable[str], known: frozenset[str]) -> bool:
    """Return whether one of the words is a known word or a form of one.

    In scripts without spaces, a known word may be anywhere in a longer run.
    """
    given = set(tokens)
    if not known.isdisjoint(given):
        return True
    runs = [word for word in given if _IS_UNSPACED.fullmatch(word)]
    if runs and any(word in run for word in known if _IS_UNSPACED.fullmatch(word) for run in runs):
        return True
    by_start: dict[str, list[str]] = {}
    for word in known:
        by_start.setdefault(word[: STEM - 1], []).append(word)
    return any(are_alike(word, other) for word in given for other in by_start.get(word[: STEM - 1], ()))


# --- labels that a rule gives ---------------------------------------------------------------------------------------

_OTHERS = r"(?:every|any)(?:thing|one|body)(?:[ ]else)?|(?:the|all)(?:[ ]the)?[ ](?:rest|others?)"
_GIVES = re.compile(
    r"(?:^|[.;,:\n]|\b(?:then|otherwise|else|always))[ ]?(?:then[ ]|otherwise,?[ ]|else[ ]|always[ ])?"
    r"(?:answer|output|predict|return|respond|say|classify|label|assign)"
    rf"(?:[ ](?:it|them|this|with|as|that|{_OTHERS})\b)*"
    r"(?:[ ](?:the[ ])?(?:class[ ])?(?:label|class))?(?:[ ](?:is|as))?[ ]?:?[ ](?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_GIVEN = re.compile(
    r"""\"([^\"\n]{1,200})\" | “([^”\n]{1,200})” | '([^'\n]{1,200})'(?!\w) | `([^`\n]{1,200})`
      | \*\*([^*\n]{1,200})\*\*
      | (?P<bare>[\w+-]{1,60})(?=[ ]?(?:[.;\n)]|\Z|[ ](?:if|when|unless|otherwise|else)\b))""",
    re.VERBOSE,
)
_NTH = re.compile(
    r"\b(?:first|second|third|last|other|same|opposite|positive|negative|majority|frequent|common|remaining)"
    r"[ ](?:label|class|category|one)\b",
    re.IGNORECASE,
)
_NOT_LABELS = frozenset(
    words(
        "label labels class output answer prediction opposite same majority accordingly nothing anything one zero "
        "even odd positive negative two three four five six seven eight nine ten"
    )
)


def foreign_label(rule: str, table: TableWords) -> str | None:
    """Return the first output of the rule that is certainly no label of the table, or None."""
    for gives in _GIVES.finditer(rule):
        found = _GIVEN.match(rule, gives.end())
        if found and not _may_be_label(found, rule, table):
            return found[found.lastindex or 0]
    return None


def _may_be_label(found: re.Match[str], rule: str, table: TableWords) -> bool:
    given = found[found.lastindex or 0]
    tokens = words(given)
    if match_label(given.replace("\\", ""), table.dataset.classes) or not tokens:
        return True
    names = {*table.inputs, *words(table.dataset.target)}  # any of these columns may hold the output
    if names.issuperset(tokens) or any(are_alike(word, label) for word in tokens for label in table.labels):
        return True
    if not found["bare"] or given.isdigit():
        return False
    is_name = len(given.strip("+-")) == 1 or given.casefold() in COMPUTED | INPUT_NOUNS or rule.count(given) > 1
    if table.are_labels_numbers and is_name:  # of a number that the rule computes: "let s be a + b; output s"
        return True
    return given.casefold() in FUNCTION_WORDS | _NOT_LABELS or given.casefold().endswith("ly")


def names_no_label(rule: str, table: TableWords) -> bool:
    """Return whether the rule names no label, although this table's labels can only be given by name."""
    if table.are_labels_numbers or table.are_labels_cells:
        return False
    return not (table.has_label(rule) or _NTH.search(rule))


_OF_ITSELF = frozenset(words("rule rules hypothesis prediction predictions"))
"""Words that a text uses for itself."""
_OF_RULES = COMPUTED | frozenset(
    words("if when whenever unless where whereas otherwise else whose whoever iff always never answer say return")
)
"""Words of a rule itself: conditions, computations and orders."""
_NUMBERS = frozenset(words("zero one two three four five six seven eight nine ten"))


def names_nothing(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text names neither a column nor an output."""
    if table.has_column(tokens):
        return False
    if table.dataset.task == "classification":
        return not table.has_label(rule)
    return not any(word in COMPUTED | _NUMBERS or any(c.isdigit() for c in word) for word in tokens)


def is_talk_of_rules(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text speaks of a rule and has no input of the table, no condition and no computation."""
    own = table.inputs - FUNCTION_WORDS - INPUT_NOUNS
    has_number = any(is_number(word) and word not in table.labels for word in tokens)
    names_input = has_number or any(are_alike(word, name) for word in set(tokens) for name in own)
    gives_label = table.has_category(rule) or ("for" in tokens and table.labels and table.has_label(rule))
    return not (_OF_ITSELF.isdisjoint(tokens) or names_input or gives_label) and _OF_RULES.isdisjoint(tokens)


# --- the target as an input -----------------------------------------------------------------------------------------

MOST_LISTED = 100
"""Maximum names, categories or labels in a pattern."""

_MARK = r"[\"'`“”‘’*]{0,3}"
_WHEN = r"\b(?:if|when|whenever|where|unless|provided[ ]that|given[ ]that)"
_LINKING = (
    rf"{_MARK}[ ]?(?:(?:column|value)[ ])?"
    r"(?:(?:is|are|was|were|has|equals|contains|exists)\b|[=<>≤≥])"
)
_GIVE = r"\b(?:then|answer|output|predict|return|respond|say|classify|label|assign|give)\b"
_NO_ANSWER_YET = rf"(?:(?!{_GIVE}|\b(?:otherwise|else)\b)(?:[^.,;:\n]|\.(?=\d))){{1,160}}?"
_OBJECT = r"(?:(?!\b(?:if|when|whenever|where|unless|otherwise|else|for|in|on|by)\b)(?:[^.,;:\n]|\.(?=\d))){0,40}?"
_PHRASE_END = rf"(?=[.,;:]|\s*\Z|[ ]{_GIVE}|[ ]?(?:->|→|=>))"
_THEN = rf"(?=,?[ ]{_GIVE})"
_READ = (
    r"\b(?:us(?:e|es|ing)|look(?:s|ing)?[ ]at|checks?|checking|reads?|reading|consults?|considers?|copy|copies|takes?"
    r"|inspects?|see|according[ ]to|based[ ]on|depending[ ]on|from|by)"
)

_DESCRIBING = frozenset(
    words(
        "good bad low medium high positive negative late early cheap expensive poor rich safe risky normal abnormal "
        "small large young old short long strong weak"
    )
)
"""Labels that may also describe an input."""


def target_uses(table: TableWords) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of such rules; the target's name is left out if an input's name contains it."""
    target = words(table.dataset.target)
    is_of_input = any(set(target) <= set(words(name)) for name in table.dataset.inputs)
    patterns = [*_labels_of_categories(table)]
    if target and not is_of_input and not set(target) <= FUNCTION_WORDS:
        name = rf"{_MARK}(?<![^\W_]){spelt(table.dataset.target)}(?![^\W_])"
        column = rf"(?:{name}{_MARK}[ ](?:column|field|feature|attribute)\b|column[ ]{name})"
        reading = rf"{_READ}[ ](?:only[ ])?(?:the[ ])?(?:values?[ ](?:of|in)[ ])?(?:the[ ])?{column}"
        patterns += (reading, *_conditions(name, table))
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def _labels_of_categories(table: TableWords) -> Iterator[str]:
    """Yield patterns of a label used as a category or a column: `if math is not rejected`, `if math is A and rejected`.

    There are none if a label is also a category. Labels that may describe an input do not count: "if the history is
    good".
    """
    labels = [label for label in map(shown_label, table.dataset.classes) if not is_truth_word(label)]
    asked = [label for label in labels if re.search(r"[^\W\d_]", label) and not _DESCRIBING.issuperset(words(label))]
    if not asked or not table.category_columns or any(map(table.has_category, labels)):
        return
    thing = rf"(?:{_any_of(map(spelt, table.category_columns))}|{_any_of(map(spelt, table.categories))})"
    things = rf"(?:(?:the|an?|any|other|all|every|each|both)[ ]){{0,2}}{thing}(?:[ ](?:(?:and|or|a)\b|{thing})){{0,8}}+"
    verb = r"(?:is|are|was|were|being|=)[ ](?:(?:not|both|all|also|only|always|never)[ ])?"
    label = rf"{_MARK}{_any_of(map(spelt, asked))}{_MARK}"
    when, further = r"\b(?:if|when|whenever|unless)[ ]", rf"{_NO_ANSWER_YET}[ ](?:and|or)[ ]"
    or_label = rf"(?:{_MARK}{thing}{_MARK}[ ]or[ ]){{0,3}}+{label}(?:{_PHRASE_END}|[ ](?:and|or)\b)"
    yield rf"{when}(?:{further})?{_MARK}{things}{_MARK}[ ]{verb}{or_label}"
    if not table.text_columns:
        yield rf"{when}{further}{label}(?:[ ](?:is|are|was|were)\b|{_THEN})"


def _any_of(patterns: Iterable[str]) -> str:
    """Return a pattern of any of these as a whole word, limited to the longest; without any it matches nothing."""
    longest = sorted(filter(None, patterns), key=len, reverse=True)[:MOST_LISTED]
    return rf"(?:{'|'.join(longest) or '(?!)'})(?!\w)"


def _conditions(name: str, table: TableWords) -> Iterator[str]:
    """Yield `if status is sick`, `if age is above 40 and the patient's status is sick`.

    A rule for texts may ask for what a text says: "if the sentiment is favourable". So if the table has texts, a label
    must follow the verb. If all inputs are texts, even that is allowed, unless the labels are numbers.
    """
    is_all_text = len(table.text_columns) == len(table.dataset.inputs)
    if is_all_text and table.dataset.task == "classification" and not table.are_labels_numbers:
        return
    verb = _LINKING + (_target_label(table) if table.text_columns else "")
    of_whom = rf"{_MARK}(?:[ ]of[ ](?:the|a|this|each)[ ]{_not_text(table)}[^\W_]{{1,40}})?"
    asked = rf"{_lead(table)}{name}{of_whom}{verb}"
    yield rf"{_WHEN}[ ]{asked}"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET},?[ ](?:and|or)[ ]{asked}{_OBJECT}{_PHRASE_END}"


def _lead(table: TableWords) -> str:
    """Match the words before the name: `the value of the`, `the patient's`."""
    owner = rf"(?:{_not_text(table)}[^\W_]{{1,40}}['’]s?[ ])?"
    return rf"(?:(?:the|a|an|its|their|his|her|this)[ ])?{owner}(?:(?:value|column)[ ](?:of[ ]|in[ ])?)?(?:the[ ])?"


def _not_text(table: TableWords) -> str:
    """Keep "the sentiment of the review" out: a text has a sentiment of its own."""
    texts = {word for name in table.text_columns for word in words(name)}
    return rf"(?!(?:{'|'.join(map(re.escape, sorted({*texts, 'text', 'review', 'sentence'})))})\b)"


def _target_label(table: TableWords) -> str:
    shown = _any_of(map(re.escape, map(shown_label, table.dataset.classes)))
    return rf"[=]{{0,2}}[ ]?(?:(?:not|equal[ ]to)[ ])?{_MARK}(?:{shown}|(?:above|below|over|under)?[ ]?[-+]?\d)"


# --- repetition of the prompt ---------------------------------------------------------------------------------------

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
        foreign = (mark for mark in self._marks(rule) if not (self.table.holds(mark) or mark.casefold() in own))
        return next(foreign, None)

    def _marks(self, rule: str) -> Iterator[str]:
        yield from (mark[0].strip() for mark in _MARKS.finditer(rule))
        yield from (heading for heading in self._headings if heading in rule.casefold())
        outputs = {"no answer", *(" ".join(words(shown_label(label))) for label in self.table.dataset.classes)}
        rows = [words(part) for part in _ROW_NUMBER.split(rule)[1:]]
        if sum(" ".join(row) in outputs or all(map(is_number, row)) for row in rows) >= 2:
            yield _ROW_NUMBER.findall(rule)[0]  # several rows with an output alone: `[1] admitted [2] rejected`

    @cached_property
    def _headings(self) -> tuple[str, ...]:
        lines = (line.strip().casefold() for line in self.instructions.splitlines())
        headings = [line for line in lines if line.endswith(":") and 2 <= len(words(line)) <= WORD_LIMIT]
        return tuple(dict.fromkeys((*headings, "current rule:", "correct outputs:", REFUSED.casefold())))


def _runs(tokens: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(tokens[n : n + RUN]) for n in range(len(tokens) - RUN + 1))


def _places_in_runs(tokens: Sequence[str], runs: frozenset[tuple[str, ...]]) -> frozenset[int]:
    begins = (n for n in range(len(tokens) - RUN + 1) if tuple(tokens[n : n + RUN]) in runs)
    return frozenset(place for begin in begins for place in range(begin, begin + RUN))


_MARKS = re.compile(
    r"""<<<|>>> | <\|[^|<>\n]{1,30}\|> | \[/?INST\] | <</?SYS>> | </?(?:start|end)_of_turn>
      | ^[ \t]{0,8}(?:\#{1,4}[ ])?(?:user|assistant|system|human)[ ]?:
      | \(the[ ]rule[ ]gave\b[^()\n]{0,30}""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_ROW_NUMBER = re.compile(r"(?:(?<=\s)|^)\[\d{1,4}\]")


# --- the guard ------------------------------------------------------------------------------------------------------


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
            or self._unfinished(rule)
            or self._leaked_example(rule, tokens, parent)
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

    def _unfinished(self, rule: str) -> str | None:
        """Refuse an end that no sentence has: an open bracket, a comma, or a word such as `than`."""
        bare = rule.rstrip().rstrip("*_`").rstrip()
        last = (words(bare[-80:]) or [""])[-1]
        has_stop = bare.endswith((".", "!", "?", "。")) and not bare.endswith("..")
        is_word = last in CONTINUING and last not in self._table.words and not has_stop
        unquoted = re.sub(r'"[^"\n]*"', "", bare)
        is_open = not has_stop and ('"' in unquoted or unquoted.count("(") > unquoted.count(")"))
        if not (is_word or is_open or _OPEN_END.search(bare[-80:])) or self._ends_with_label(bare):
            return None
        end = " ".join(bare[-80:].split()[-3:])
        return f"it stops in mid-sentence (“{shortened(end)}”): write one short, complete sentence"

    def _ends_with_label(self, rule: str) -> bool:
        """Return whether a label such as `+`, or a sentence with its own full stop, ends the rule."""
        labels = (label.split() for label in self.dataset.classes)
        return any(_bare(rule.split()[-len(label) :]) == _bare(label) for label in labels)

    def _leaked_example(self, rule: str, tokens: Sequence[str], parent: str) -> str | None:
        """Refuse a rule that names columns of the examples and none of the table, or that compares such a column."""
        foreign = self._example_words.difference(words(parent))
        is_foreign = not (self._table.text_columns or self._table.has_column(tokens))
        used = tokens if is_foreign else [word.casefold() for pair in _COMPARED.findall(rule) for word in pair]
        leak = next((word for word in used if word in foreign), None)
        if leak is None:
            return None
        return f"it speaks of '{shortened(leak)}', a word of the examples: use this table's columns and labels alone"

    def _target_as_input(self, rule: str) -> str | None:
        if not any(pattern.search(rule) for pattern in self._target_uses):
            return None
        name = shortened(self.dataset.target)
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
    def _example_words(self) -> frozenset[str]:
        """Words of the columns in the worked examples that neither the table nor the instructions have."""
        named = {word for name in _PAIR.findall(self.examples) for word in words(name)}
        known = {*self._table.words, *FUNCTION_WORDS, *words(f"{self.instructions}\n{optimizer_form('text')}")}
        return frozenset(word for word in named - known if not any(are_alike(word, own) for own in self._table.words))

    @cached_property
    def _target_uses(self) -> tuple[re.Pattern[str], ...]:
        return target_uses(self._table)


_PAIR = re.compile(r"(?:^|(?<=[,;]))[ \t]{0,4}([^\W\d_][^\n,;:.>]{0,60}):[ \t]{1,4}[^\s,;:]", re.MULTILINE)
"""A column and the beginning of its value in a worked example."""
_COMPARED = re.compile(r"\b(?:if|when|and|or)[ ](\w+)[ ](?:is|=|<|>)|[*+][ ]?(\w+)(?![ ]?\()", re.IGNORECASE)
"""A word used as a column: `if town is`, `3 * depth`."""
_OPEN_END = re.compile(r"(?:[,:(\[{“‘«]|…|\.\.|\s[=<>≤≥+*/])\Z")
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
