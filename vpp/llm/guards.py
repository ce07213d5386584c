"""Refuses proposed texts that are no rule for a table: they repeat the prompt, break off, or fit another table.

Each check compares a text with the prompt, with the table, or with itself; none looks for phrases of a particular
model. The reason is sent back to the model, so it also says what to write instead. Words are compared without case and
punctuation, and an underscore counts as a space: `Num_Publications` is `num publications`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from vpp.data.answers import match_label, shown_label
from vpp.data.columns import is_number
from vpp.data.dataset import Dataset
from vpp.llm.answers import is_truth_word
from vpp.llm.conversation import REFUSED
from vpp.llm.forms import optimizer_form
from vpp.llm.table_words import (
    COMPUTED,
    FUNCTION_WORDS,
    INPUT_NOUNS,
    TableWords,
    any_of,
    are_alike,
    phrase,
    shortened,
    spelt,
    words,
)

# --- labels that a rule gives ---------------------------------------------------------------------------------------

_CLAUSE = r"(?:^|[.;,:\n]|\b(?:then|otherwise|else|always))[ ]?(?:then[ ]|otherwise,?[ ]|else[ ]|always[ ])?"
_OTHERS = r"(?:every|any)(?:thing|one|body)(?:[ ]else)?|(?:the|all)(?:[ ]the)?[ ](?:rest|others?)"
_ACT = (
    r"(?P<act>answer|output|predict|return|respond|say|classify|label|assign)"
    rf"(?:[ ](?:it|them|this|with|as|that|{_OTHERS})\b)*"
)
_IS = r"(?:the[ ])?(?:class[ ]|predicted[ ])?(?:label|output|answer|prediction|class)[ ](?:is|should[ ]be|must[ ]be)"
_NAMED = r"(?:[ ](?:the[ ])?(?:class[ ])?(?:label|class))?(?:[ ](?:is|as))?[ ]?:?[ ]"
_GIVES = re.compile(rf"{_CLAUSE}(?:{_ACT}|{_IS}){_NAMED}(?=\S)", re.IGNORECASE | re.MULTILINE)
_QUOTED = re.compile(
    r"""\"([^\"\n]{1,200})\" | “([^”\n]{1,200})” | '([^'\n]{1,200})'(?!\w) | `([^`\n]{1,200})`
      | \*\*([^*\n]{1,200})\*\*""",
    re.VERBOSE,
)
_BARE = re.compile(r"([\w+-]{1,60})(?=[ ]?(?:[.;,\n)]|\Z|[ ](?:if|when|unless|otherwise|else|for)\b))")
_SENTENCE = re.compile(r"[^.;\n]*")
_CONDITIONAL = re.compile(r"\b(?:if|when|whenever|unless|otherwise|else|then|always|for)\b|->|→|=>", re.IGNORECASE)
_GOES_ON = re.compile(
    r",[ ]?(?!(?:otherwise|else|if|when|unless|and|or|but|then|for|while|because|since|the|it)\b)(?=\S)", re.IGNORECASE
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
        if (quoted := _QUOTED.match(rule, gives.end())) is not None:
            given = next(text for text in quoted.groups() if text is not None)
            is_quoted = True
        elif (bare := _BARE.match(rule, gives.end())) is not None:
            if gives["act"] is None and _describes(rule, gives.start(), bare):
                continue
            given, is_quoted = bare[1], False
        else:
            continue
        if not (_may_be_label(given, table, is_quoted=is_quoted) or (not is_quoted and _computes(given, rule, table))):
            return given
    return None


def _describes(rule: str, start: int, given: re.Match[str]) -> bool:
    """Return whether "the output is X" only describes it: `The output is binary. If …`, `is determined by …`."""
    if _GOES_ON.match(rule, given.end()):
        return True
    begin = max(rule.rfind(mark, 0, start + 1) for mark in ".;\n") + 1
    after = _SENTENCE.match(rule, given.end())
    end = after.end() if after else len(rule)
    is_whole = not words(rule[:begin]) and not words(rule[end:])
    return not is_whole and not _CONDITIONAL.search(rule, begin, end)


def _computes(given: str, rule: str, table: TableWords) -> bool:
    """Return whether it names a number that the rule computes, if labels are numbers: `Let s = a + b. Output s.`"""
    if not table.are_labels_numbers or given.isdigit():
        return False
    if len(given.strip("+-")) <= 1 or "+" in given or any(c.isdigit() for c in given):
        return True
    name = re.escape(given)
    defined = rf"\b{name}[ ]?=|\b(?:let|call|compute|calculate|find|the|as)[ ]{name}[ ](?:of|be|is|between)\b"
    return given.casefold() in COMPUTED | INPUT_NOUNS or bool(re.search(defined, rule, re.IGNORECASE))


def _may_be_label(given: str, table: TableWords, *, is_quoted: bool) -> bool:
    tokens = words(given)
    if match_label(given.replace("\\", ""), table.dataset.classes) or not tokens:
        return True
    names = {*table.inputs, *words(table.dataset.target)}  # any of these columns may hold the output
    if names.issuperset(tokens) or any(are_alike(word, label) for word in tokens for label in table.labels):
        return True
    if is_quoted or given.isdigit():
        return False
    return given.casefold() in FUNCTION_WORDS | _NOT_LABELS or given.casefold().endswith("ly")


def names_no_label(rule: str, table: TableWords) -> bool:
    """Return whether the rule names no label, although this table's labels can only be given by name."""
    if table.are_labels_numbers or table.are_labels_cells:
        return False
    return not (table.has_label(rule) or _NTH.search(rule))


# --- talk about rules: "the current rule is good and fits all values well" ------------------------------------------

WORDS_READ = 400
LABELS_READ = 50
APART = 3
"""Minimum words between two labels given to different inputs; "sick or healthy" has one."""

_NUMBERS = frozenset(words("zero one two three four five six seven eight nine ten"))
_OF_ITSELF = frozenset(words("rule rules hypothesis prediction predictions"))
"""Words that a text uses for itself."""
_CONDITIONS = frozenset(words("if when whenever unless where whereas otherwise else whose whoever iff"))
_AMOUNTS = frozenset(words("all most many every each any some both almost nearly the these those this such"))
_BEFORE_INPUTS = frozenset(words("for on in with among to"))
_FIGURE = re.compile(
    r"(?:\b(?:above|below|over|under|than|between|least|most|exceeds?|is|outputs?|gives?|predicts?|answers?|adds?|by)"
    r"[ ]|[=<>≤≥+*/%^])[ ]?[-+]?\d++(?![ ]?%)",
    re.IGNORECASE,
)
_ORDER = (
    r"(?:\A|[.;:\n]|\b(?:always|never|to|simply|just)[ ])[ ]?"
    r"(?:answer|output|predict|return|respond|say|give|assign|label)"
)
_ORDERED = re.compile(
    rf"{_ORDER}(?:[ ](?:with|as|it|the|label|class))*[ ](?P<given>[^\s.,;]+)(?![ ]?(?:[,/]|(?:or|and)\b))",
    re.IGNORECASE,
)
"""Order of a single label: `The rule is to always answer admitted.`"""


def names_nothing(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text names neither a column nor an output."""
    if table.has_column(tokens):
        return False
    if table.dataset.task == "classification":
        return not table.has_label(rule)
    return not any(word in COMPUTED | _NUMBERS or any(c.isdigit() for c in word) for word in tokens)


def is_talk_of_rules(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text speaks of a rule and has no input of the table, no condition and no computation."""
    if _OF_ITSELF.isdisjoint(tokens):
        return False
    own = table.inputs - FUNCTION_WORDS - INPUT_NOUNS
    names_input = any(are_alike(word, name) for word in set(tokens[:WORDS_READ]) for name in own)
    has_number = any(words(figure[0])[-1] not in table.labels for figure in _FIGURE.finditer(rule))
    if names_input or has_number or not (COMPUTED | _CONDITIONS).isdisjoint(tokens):
        return False
    ordered = (word for order in _ORDERED.finditer(rule) for word in words(order["given"]))
    orders_label = any(_label_of(word, table) is not None for word in ordered)
    return not (table.has_category(rule) or orders_label or _has_labels_apart(tokens, table))


def _has_labels_apart(tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether two labels stand apart, or one stands before its inputs: `positive for great reviews`."""
    if any(not words(label) for label in table.dataset.classes):
        return True
    places = [(n, at) for n, word in enumerate(tokens[:WORDS_READ]) if (at := _label_of(word, table)) is not None]
    pairs = pairwise(places)
    if any(one != other and n - before > APART for (before, one), (n, other) in pairs):
        return True
    return any(_is_given(tokens, n, [place for place, _ in places]) for n, _ in places)


def _is_given(tokens: Sequence[str], place: int, places: Sequence[int]) -> bool:
    """Return whether a single label stands there, before inputs that are not just `all rows`."""
    is_alone = not any(0 < place - other <= 2 for other in places)
    after = tokens[place + 1 : place + 3]
    return is_alone and len(after) == 2 and after[0] in _BEFORE_INPUTS and after[1] not in _AMOUNTS


def _label_of(word: str, table: TableWords) -> int | None:
    """Return the index of the label that has this word or another form of it."""
    labels = table.dataset.classes[:LABELS_READ]
    return next((n for n, label in enumerate(labels) if any(are_alike(word, own) for own in words(label))), None)


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

_AMOUNT = r"(?:more|most|fewer|fewest|less|least|higher|lower|many)"
_COMPARED_AMOUNT = re.compile(rf"\b{_AMOUNT} ([^\W\d_]{{2,40}}s)\b")
"""What is counted, in the plural: `more clicks`."""
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
    patterns = [*_labels_of_categories(table), *_amounts_of_labels(table)]
    if target and not is_of_input and not set(target) <= FUNCTION_WORDS:
        name = rf"{_MARK}(?<![^\W_]){spelt(table.dataset.target)}(?![^\W_])"
        patterns += (*_readings(name), *_conditions(name, table))
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


def _amounts_of_labels(table: TableWords) -> Iterator[str]:
    """Yield `if it has more clicks` and `if the click count is`, where every label says which input has more clicks."""
    spoken = [{match[1] for match in _COMPARED_AMOUNT.finditer(label.casefold())} for label in table.dataset.classes]
    things = frozenset.intersection(*map(frozenset, spoken)) - table.inputs if spoken else ()
    known = rf"(?P<known>{any_of(re.escape(word.removesuffix('s')) + 's?' for word in things)})"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET}\b(?:{_AMOUNT}|(?:number|amount|count)s?[ ]of)[ ](?:the[ ])?{known}\b"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET}\b{known}[ ](?:count|number|rate)s?\b"


def _any_of(patterns: Iterable[str]) -> str:
    """Return a pattern of any of these as a whole word, limited to the longest."""
    return rf"(?:{any_of(patterns, MOST_LISTED)})(?!\w)"


def _readings(name: str) -> Iterator[str]:
    """Yield `use the status column`, `copy the status`, `its own price`, `equals the price in the row`."""
    column = rf"(?:{name}{_MARK}[ ](?:column|field|feature|attribute)\b|column[ ]{name})"
    yield rf"{_READ}[ ](?:only[ ])?(?:the[ ])?(?:values?[ ](?:of|in)[ ])?(?:the[ ])?{column}"
    yield rf"\b(?:copy|repeat)[ ](?:the[ ])?{name}"
    yield rf"\bown[ ]{name}"
    place = r"(?:given[ ])?in[ ](?:the|its|this|that)[ ](?:same[ ])?(?:row|input|table)\b"
    yield rf"(?:\b(?:is|equals?|as)[ ]|=[ ]?)(?:the[ ])?{name}{_MARK}[ ]{place}"


def _conditions(name: str, table: TableWords) -> Iterator[str]:
    """Yield `if status is sick`, `if age is above 40 and the patient's status is sick`.

    A rule for texts may ask for what a text says: "if the sentiment is favourable". So if the table has texts, a label
    must follow the verb. If all inputs are texts, even that is allowed, unless the labels are numbers.
    """
    if (
        len(table.text_columns) == len(table.dataset.inputs)
        and table.dataset.task == "classification"
        and not table.are_labels_numbers
    ):
        return
    verb = _LINKING + (_target_label(table) if table.text_columns else "")
    of_whom = rf"{_MARK}(?:[ ]of[ ](?:the|a|this|each)[ ]{_not_text(table)}[^\W_]{{1,40}})?"
    asked = rf"{_lead(table)}{name}{of_whom}{verb}"
    yield rf"{_WHEN}[ ]{asked}"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET}[ ](?:and|or)[ ]{asked}{_OBJECT}{_PHRASE_END}"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET},[ ](?:and|or)[ ]{asked}{_OBJECT}{_THEN}"
    if not table.text_columns:
        yield rf"\b(?:based[ ]on|depending[ ]on)[ ]{_lead(table)}{name}"


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


# --- worked examples ------------------------------------------------------------------------------------------------

PHRASE_LIMIT = 3
"""Maximum words of a column's name, a value or a label in an example; longer ones are sentences."""


@dataclass(frozen=True, kw_only=True)
class ExampleWords:
    """Names of the examples that the table does not have, as words with single spaces in lower case."""

    table: TableWords
    columns: frozenset[str]
    texts: frozenset[str]
    """Columns whose values are sentences: `slogan_a` as `slogan a` and `slogan`."""
    identifiers: frozenset[str]
    """Names of columns with an underscore, as they are written."""
    values: frozenset[str]
    names: frozenset[str]
    """Values with an initial capital: names of places or people."""
    labels: frozenset[str]
    sentences: frozenset[str]
    """Sentences of the examples' rules that name no column of the table, with `_ANY_LABEL` for each label."""

    @classmethod
    def of(cls, examples: str, *, table: TableWords, instructions: str) -> "ExampleWords":
        """Read the rows of the examples: `town: Oslo, cats: 4 -> loud`. Words of the instructions are left out."""
        pairs = _PAIR.findall(examples)
        short = [pair for pair in pairs if len(words(pair[1])) <= PHRASE_LIMIT]
        long_names = [name for name, value in pairs if len(words(value)) > PHRASE_LIMIT]
        columns = _phrases(name for name, _ in short)
        stems = (" ".join(word for word in words(name) if len(word) > 1) for name in long_names)
        texts = _phrases((*long_names, *stems))
        values = _phrases(value for _, value in short)
        names = _phrases(value for _, value in short if value.istitle())
        labels = _phrases(_LABEL.findall(examples))
        known = _known(columns | texts | values | labels, table) | FUNCTION_WORDS | set(words(instructions))

        def unknown(texts: frozenset[str]) -> frozenset[str]:
            return frozenset(text for text in texts if not known.issuperset(text.split()))

        return cls(
            table=table,
            columns=unknown(columns | texts),
            texts=unknown(texts),
            identifiers=frozenset(name for name, _ in pairs if "_" in name and not table.holds(name)),
            values=unknown(values),
            names=unknown(names),
            labels=unknown(labels),
            sentences=frozenset(
                sentence
                for rule in _RULE.findall(examples)
                for sentence in _sentences(rule, labels)
                if table.inputs.isdisjoint(sentence.split())
            ),
        )

    def leak(self, rule: str, *, parent: str) -> str | None:
        """Return the first leaked word of the rule that its parent does not have, or None."""
        if not (self.columns or self.values or self.labels):
            return None
        own = phrase(parent)
        leaks = (" ".join(words(text)) for text in self._leaks(rule))
        return next((text for text in leaks if phrase(text) not in own), None)

    def copies(self, rule: str, *, parent: str) -> bool:
        """Return whether a sentence of the rule is one of the examples with other labels, and not its parent's."""
        if not self.sentences:
            return False
        labels = self.table.dataset.classes
        return not self.sentences.isdisjoint({*_sentences(rule, labels)} - {*_sentences(parent, labels)})

    def _leaks(self, rule: str) -> Iterator[str]:
        for pattern in self._patterns:
            yield from (match["leak"] for match in pattern.finditer(rule))
        if not self.table.text_columns:
            yield from self._strangers(rule)

    def _strangers(self, rule: str) -> Iterator[str]:
        """Yield columns of the examples next to another leaked word, or in a rule that names no column of the table."""
        if not self.table.has_column(words(rule)):
            yield from (match["leak"] for match in self._column.finditer(rule))
        for clause in _CLAUSE_END.split(rule):
            columns = [match["leak"] for match in self._column.finditer(clause)]
            if columns and len({text.casefold() for text in (*columns, *self._value.findall(clause))}) > 1:
                yield columns[0]

    # --- uses of a word that make it a leak -------------------------------------------------------------------------

    @cached_property
    def _column(self) -> re.Pattern[str]:
        return _compiled(_one_of(self.columns) + r"(?![ ]?\()")

    @cached_property
    def _value(self) -> re.Pattern[str]:
        return _compiled(_one_of(self.values))

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(_compiled, (*self._columns_used(), *self._values_compared(), *self._labels_given())))

    def _columns_used(self) -> Iterator[str]:
        """Yield `if the depth is above 2` and `3 * depth`; with texts `if town is Oslo` and `if the slogan asks`."""
        column = _one_of(self.columns)
        yield rf"(?<!\w)(?P<leak>{any_of(map(re.escape, self.identifiers))})(?!\w)"
        yield rf"(?:[*+^×·]|\b(?:times|plus|minus)[ ])[ ]?{column}(?![ ]?\()"
        yield rf"{column}[ ]?(?:[*+^×·]|\b(?:times|plus|minus)\b)"
        if self.table.text_columns:
            shown = any_of(map(spelt, self.values))
            yield rf"{_LEAD}{column}{_COMPARED}[^,.;\n]{{0,20}}?[ ]{_OPENING}(?:[-+]?\d|(?:{shown})\b)"
            yield rf"{_WHEN_THE}{_OPENING}{_one_of(self.texts)}{_CLOSING}(?:[ ]?[=<>≤≥]|{_VERB})"
        else:
            yield rf"{_LEAD}(?:(?:the|a)[ ])?{_VALUE_OF}{column}{_COMPARED}"

    def _values_compared(self) -> Iterator[str]:
        """Yield a value after a category column, `if city is plum`, and a name after any word, `people from Oslo`."""
        category_column = _word(any_of(map(spelt, self.table.category_columns)))
        yield rf"{category_column}{_EQUALS}{_LISTED}{_one_of(self.values)}{_END}"
        if not self.table.text_columns:
            yield rf"(?:=|\b(?:is|are|was|were|equals?|in|from|at|not)\b){_LISTED}{_one_of(self.names)}"

    def _labels_given(self) -> Iterator[str]:
        """Yield `answer lush` and `if math is A, lush`."""
        label = _one_of(self.labels)
        yield rf"{_GIVING}{label}{_END}"
        yield rf"(?:^|[.;\n][ ]?)(?:if|when)\b[^,.;\n]{{1,200}},[ ]{label}(?=[.;]|\s*\Z)"


# --- patterns -------------------------------------------------------------------------------------------------------

_PAIR = re.compile(
    r"(?:^|(?<=[,;]))[ \t]{0,4}([^\W\d_][^\n,;:.>]{0,60}):[ \t]{1,4}([^\s,;:][^\n,;:]{0,60}?)[ \t]{0,4}(?=[,;]|->|$)",
    re.MULTILINE,
)
_RULE = re.compile(r"^.{0,12}\brule:[ ]*(.+)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"(?:->|\banswer\b)[ \t]{0,4}[\"'“‘]?([^\W\d_][^\n,;:.\"'”’>()-]{0,60})")
_CLAUSE_END = re.compile(r"[,.;:\n]|\b(?:then|otherwise|else)\b", re.IGNORECASE)
_OPENING = r"[(\[{\"'`“‘*]{0,3}"
_CLOSING = r"[)\]}\"'`”’*]{0,3}"
_LEAD = rf"(?:^|[.;,(\n]|\b(?:if|when|whenever|where|unless|and|or|but|with|whose|for|while))[ ]{{0,2}}{_OPENING}"
_VALUE_OF = rf"(?:(?:value|column)[ ](?:(?:of|in)[ ])?(?:the[ ])?)?{_OPENING}"
_COMPARED = (
    rf"{_CLOSING}(?:[ ]?(?:[=<>≤≥]|!=)|[ ](?:is|are|was|were|has|have|equals?|exceeds?|contains?|below|above|under|over"
    r"|at[ ](?:least|most)|less|more|greater|fewer|between)\b)"
)
_WHEN_THE = r"\b(?:if|when|whenever|where|unless|the)[ ]"
_VERB = r"[ ](?:only[ ])?(?!this\b)(?:is|has|[^\W\d_]{3,20}s)\b"
"""A verb in the third person: `asks`."""
_EQUALS = rf"{_CLOSING}(?:[ ]?!?={{1,3}}|[ ](?:is|are|was|were|equals?|contains?|in)\b)"
_LISTED = (
    r"(?:[ ](?:not|in|either|one|of|a|an|the)\b){0,3}"
    rf"(?:[ ]?{_OPENING}[\w-]{{1,40}}{_CLOSING}(?:,[ ]or|,|[ ]or)){{0,4}}[ ]?{_OPENING}"
)
_END = (
    rf"(?={_CLOSING}(?:[ ]?(?:[,.;:\n]|->|→|=>)|\s*\Z"
    r"|[ ](?:and|or|then|answer|output|predict|return|give|if|when|unless|otherwise|else|for)\b))"
)
_GIVING = (
    r"(?:\b(?:answer|output|predict|return|respond|say|classify|label|assign|then|otherwise|else)\b|->|→|=>)"
    rf"(?:[ ,:]{{1,2}}(?:it|them|as|with|is|answer|output|the|label|class)\b){{0,3}}[ ,:]{{0,2}}{_OPENING}"
)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _word(pattern: str) -> str:
    """Return a pattern that matches complete words only."""
    return rf"(?<![^\W_])(?:{pattern})(?![^\W_])"


def _one_of(texts: Iterable[str]) -> str:
    return _word(rf"(?P<leak>{any_of(map(spelt, texts))})")


# --- words ----------------------------------------------------------------------------------------------------------


def _phrases(texts: Iterable[str]) -> frozenset[str]:
    """Return short texts as words, without numbers and single letters."""
    split = (words(text) for text in texts if any(len(word) > 1 and not is_number(word) for word in words(text)))
    return frozenset(" ".join(tokens) for tokens in split if len(tokens) <= PHRASE_LIMIT)


_ANY_LABEL = "0label"
SENTENCE = 5
"""Fewest words of a sentence that is compared with those of the examples."""


def _sentences(rule: str, labels: Iterable[str]) -> Iterator[str]:
    """Yield the sentences that give a label, as words in lower case, with `_ANY_LABEL` for each label."""
    marked = re.sub(_word(any_of(map(spelt, labels))), f" {_ANY_LABEL} ", rule, flags=re.IGNORECASE)
    for tokens in map(words, re.split(r"[.;\n]", marked)):
        if _ANY_LABEL in tokens and len(tokens) >= SENTENCE:
            yield " ".join(tokens)


def _known(texts: Iterable[str], table: TableWords) -> set[str]:
    """Return the words of these texts that the table has, in the same or another form."""
    by_start: dict[str, list[str]] = {}
    for word in {word for text in texts for word in text.split()}:
        by_start.setdefault(word[:3], []).append(word)
    return {word for own in table.words - FUNCTION_WORDS for word in by_start.get(own[:3], ()) if are_alike(word, own)}


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
_QUOTATION = re.compile(r"\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”")
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
    bare = _QUOTATION.sub("", rule)
    if bare.count('"') % 2 or bare.count("“") > bare.count("”"):
        return '"' in bare[:-1] or "“" in bare
    last = max(map(bare.rfind, "([{"))
    return last >= 0 and not any(closing in bare[last:] for closing in ")]}")
