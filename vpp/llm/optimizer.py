"""The optimizer: a model that writes the next hypothesis, from a batch or from the columns alone; and its guard.

The guard refuses texts that are no rule for a table: they repeat the prompt, name nothing, or need the target. A reason
is sent back to the model, so it also says what to write instead.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from vpp.answers import Parsed, parse_rule, shortened
from vpp.data.dataset import Dataset, Row
from vpp.events import Counters
from vpp.llm.learner import Chat, RoleChat, fault_words
from vpp.llm.prompts import ModelLimits, OptimizerPrompts, seed_sentence
from vpp.llm.protocol import OF_PROMPT, Completion
from vpp.llm.templates import Message
from vpp.problem import Prediction, Proposal

THOUGHTS_LIMIT = 2_000
"""Characters of a thinking model's thoughts that are recorded."""


@dataclass(eq=False)
class LlmOptimizer:
    """f_opt(theta, batch): a model that writes the next hypothesis."""

    endpoint: Chat
    prompts: OptimizerPrompts
    limits: ModelLimits
    counters: Counters

    def __post_init__(self) -> None:
        self._chat = RoleChat(self.endpoint, self.counters, "optimizer")
        seed_text, sentence = self.prompts.seed_text, seed_sentence(self.prompts.dataset)
        prior = seed_text.removeprefix(sentence).strip()
        copies = [r"\s+".join(map(re.escape, part.split())) for part in (seed_text, sentence, prior) if part]
        self._lead = re.compile(rf"\A\s*(?:(?:{'|'.join(copies)})\s*)*")
        """Copies of the seed text or a part of it at the start of a rule, in any spacing."""

    async def propose(
        self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction], *, temperature: float, seed: int
    ) -> Proposal:
        """Return a revised hypothesis. Raises EndpointError.

        While a prompt does not fit the context, or the server refuses it, the last half of its rows is left out.
        """

        def about(count: int) -> list[Message]:
            return self.prompts.about_batch(hypothesis, rows[:count], predictions[:count], seed=seed)

        count = len(rows)
        while count > 1 and not self.limits.fit(about(count)):
            count //= 2
        while True:
            proposal = await self._ask(about(count), hypothesis, temperature=temperature, seed=seed)
            if count == 1 or not (proposal.reason or "").startswith(tuple(OF_PROMPT)):
                return replace(proposal, shown=count if count < len(rows) else None)
            count //= 2

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        """Return a hypothesis from the seed text and the columns alone. Raises EndpointError."""
        messages, parent = self.prompts.about_columns(), self.prompts.seed_text
        return await self._ask(messages, parent, temperature=temperature, seed=seed)

    async def _ask(self, messages: list[Message], parent: str, *, temperature: float, seed: int) -> Proposal:
        read = partial(self._read, parent, temperature=temperature, seed=seed)
        options = {"temperature": temperature, "max_tokens": self.limits.max_tokens}
        return (await self._chat.until_read(messages, read, seed=seed, **options))[0]

    def _read(self, parent: str, completion: Completion, *, temperature: float, seed: int) -> Proposal:
        """Return the proposal without copies of the seed text, or why it is unreadable or refused by the guard."""
        seed_text = self.prompts.seed_text
        no_answer = fault_words(completion)
        parsed: Parsed[str] = Parsed(reason=no_answer) if no_answer else parse_rule(completion.text)
        rule, reason = self._lead.sub("", parsed.value or "", count=1).strip(), parsed.reason
        if parsed.value is not None and not rule:
            reason = "the new rule only repeats its first sentence"
        is_parent = words(rule) == words(parent.removeprefix(seed_text))
        fault = fault_of(rule, self.prompts.dataset) if rule and not is_parent else None
        return Proposal(
            text=f"{seed_text} {rule}" if rule and not fault else None,
            raw=completion.text,
            temperature=temperature,
            seed=seed,
            reason=fault or reason,
            refused=fault is not None,
            thoughts=(completion.reasoning or "")[:THOUGHTS_LIMIT],
        )


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation; underscores separate words."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.casefold())


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
    r"<<<|>>>|<\|[^|<>\n]{1,30}\|>|^user:|current rule:|\[1\](?=[\s\S]{1,60}\[2\])|\(the rule gave\b",
    re.IGNORECASE | re.MULTILINE,
)
OF_EXAMPLES = frozenset(words("depth tide cats town oslo rome petals colour teal plum soil lush slogan tilt sheep"))
"""Columns and values of the worked examples, without those that rules for other tables often have: high, letter."""
CONDITIONS = frozenset(words("if when whenever unless where whose who otherwise else always"))
_PRAISE = re.compile(
    r"\b(?:excellent|good|great|perfect|correct|accurate) (?:rule|hypothesis)\b(?! of)"
    r"|\b(?:rule|hypothesis) (?:already )?(?:works|fits|correctly|accurately|perfectly"
    r"|is (?:very )?(?:good|right)\b|\w+ the (?:correct|right) output)",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(r".*[,(<>=]|than|and|or|the|if|when|unless|an?")
"""A last word after which a rule cannot end."""
_LEFT_OPEN = re.compile(r'(?<![\w.])"\w[^"]*\Z|(?<![:;=-])\([^()\[\]]*\Z')
"""The last quote or bracket, if it is never closed; not 3" for inches, a half-open interval or a smiley."""


def fault_of(rule: str, dataset: Dataset) -> str | None:
    """Return why a text is no rule and what to write instead, in one line; None if it may be one."""
    return next(_faults(rule, dataset), None)


def _faults(rule: str, dataset: Dataset) -> Iterator[str]:
    cells = {cell.casefold() for row in dataset.train for _, cell in row.inputs if cell}
    tokens = frozenset(words(rule))
    if (mark := _MARKS.search(rule)) and not any(mark[0].casefold() in cell for cell in cells):
        yield f"it holds “{shortened(mark[0])}”, a mark of the prompt: write the rule alone, in words"
    if any(re.search(pattern, rule, re.IGNORECASE) for pattern in _target_uses(dataset, cells)):
        yield f"it needs {shortened(dataset.target)} to be known, which is to be predicted: use the inputs alone"
    described = " ".join(text for name, text in dataset.descriptions.columns.items() if name in dataset.inputs)
    inputs = {*words(" ".join(dataset.inputs)), *(word for word in words(described) if len(word) > 3)}
    known = {*cells, *map(str.casefold, (*dataset.inputs, dataset.target, *dataset.classes, described))}
    if _is_unfinished(rule, known):
        yield "it stops in mid-sentence: write the whole rule"
    if foreign := _word_of_examples(rule, dataset, known):
        yield f"it speaks of '{foreign}', a word of the examples: use the columns of this table"
    if name := _column_listed_in_full(rule, dataset):
        yield f"it lists every value of {shortened(name)}, so it gives one output: say which of them give which"
    if dataset.classes:
        is_computed = {label.casefold() for label in dataset.classes} <= cells or (
            all(label.replace(".", "", 1).lstrip("+-").isdigit() for label in dataset.classes)
            and (re.search("[=+*/]", rule) or COMPUTED & tokens)
        )
        if not (is_computed or _names_label(rule, dataset)):
            listed = ", ".join(map(shortened, dataset.classes[:10]))
            yield f"it names no label: say which inputs give which of {listed}"
    elif not (COMPUTED & tokens or re.search(r"\d", rule) or _any_alike(tokens, inputs)):
        yield "it names no column and no output: say which inputs give which output"
    is_disjoint = tokens.isdisjoint({*CONDITIONS, *COMPUTED, *cells}) and not _any_alike(tokens, inputs)
    if is_disjoint and _PRAISE.search(rule):
        yield "it only speaks of a rule: say which inputs give which output"


def _is_unfinished(rule: str, known: set[str]) -> bool:
    """Return whether a rule ends within brackets or quotes, or with a word that goes on. known: names and values."""
    plain = re.sub(r'"[^"]*"', "quoted", rule)
    end = plain.rstrip(".'`*_")
    if _UNFINISHED.fullmatch((end.split() or [""])[-1]):
        folded = end.casefold()
        names = (text for text in known if text and folded.endswith(text))
        return not any(folded == name or not folded[: -len(name)][-1].isalnum() for name in names)
    return bool(_LEFT_OPEN.search(plain)) and not any(mark in text for text in known for mark in '("')


def _word_of_examples(rule: str, dataset: Dataset, known: set[str]) -> str:
    """Return a column or value of the worked examples that this table does not have; if it has texts, a column."""
    kinds = {column.kind for column in dataset.columns if column.name in dataset.inputs}
    for word in filter(OF_EXAMPLES.__contains__, words(rule)):
        pattern = rf"\b(?:if|when|and|or) {word} is\b|\b{word}_"
        if "text" not in kinds:
            before = r"\b(?:with|each|answer|is|is \w+ or)|[*+/-]"
            pattern += rf"|(?:{before}) {word}\b|, {word};|\bthe {word} is (?:above|below|at|over|under|[\d<=>])"
        if re.search(pattern, rule, re.IGNORECASE) and not any(word[:4] in text for text in known):
            return word
    return ""


def _column_listed_in_full(rule: str, dataset: Dataset) -> str:
    """Return a column whose every category one condition lists, so that it decides nothing; empty if there is none."""
    more = r"\b(?:if|when\w*|unless|where|who\w*|and|but|except|with|look)\b"
    for name in (column.name for column in dataset.columns if column.kind == "category"):
        values = rf"\bif {_spelt(name)} is ((?:\w+(?:,? or |, )){{1,100}}\w+)\b"
        listed = re.search(rf"{values}(?!.*{more})", rule.casefold(), re.DOTALL)
        if listed and not _any_alike(words(rule), words(" ".join({*dataset.inputs} - {name}))):
            categories = {(dict(row.inputs).get(name) or "").casefold() for row in dataset.train}
            if categories <= {*re.split(",? or |, ", listed[1])}:
                return name
    return ""


def _names_label(rule: str, dataset: Dataset) -> bool:
    """Return whether the rule names a label, or a word that not all labels have and that is not the target's name."""
    classes = dataset.classes
    own = {word for label in classes for word in words(label) if any(word not in words(other) for other in classes)}
    gap = " " if rule.isascii() else ""  # between words, which not every script sets apart
    text = f"{gap}{' '.join(words(rule))}{gap}"
    return _any_alike({*words(rule)}.difference(words(dataset.target)), own) or any(
        f"{gap}{' '.join(words(label))}{gap}" in text if words(label) else label in rule for label in classes
    )


def _any_alike(tokens: Iterable[str], names: Iterable[str]) -> bool:
    """Return whether two words agree in their first four letters, or a name of three letters begins a word."""
    starts = {word[:4] for word in names}
    return any(token[:4] in starts or token[:3] in starts for token in tokens)


def _target_uses(dataset: Dataset, cells: set[str]) -> Iterator[str]:
    """Yield patterns of rules that need the target: `if status is sick`, `if math is not rejected`.

    A text may say what the target is, so a table of texts alone has none.
    """
    kinds, target = {column.name: column.kind for column in dataset.columns}, words(dataset.target)
    if all(kinds[name] == "text" for name in dataset.inputs):
        return
    if target and not any({*target} <= {*words(name)} for name in dataset.inputs):
        name = rf"(?:the )?(?:\w+['’]s )?[\"'`]?{_spelt(dataset.target)}\b[\"'`]?"
        is_so = rf"{name}(?: of the \w+)?(?: is\b| ?[=<>≤≥])"
        yield rf"\b(?:if|when|unless) (?:{is_so}|[^,;:\n]{{1,160}}?,? (?:and|or) {is_so}(?: \S+){{1,4}}?[,;])"
        yield rf"\b(?:use|look at|depending on) (?:the )?(?:column )?{name}(?![ -](?!(?:and|or|to|as|column)\b)\w)"
    values = {cell for row in dataset.train for name, cell in row.inputs if cell and kinds[name] == "category"}
    labels = [label for label in dataset.classes if not {*words(label)} <= DESCRIBING and not label.isdigit()]
    if labels and values and cells.isdisjoint(map(str.casefold, labels)):
        thing = rf"(?:{_any_of((*dataset.inputs, *values))})"
        things = rf"(?:any other )?{thing}(?: (?:and )?{thing}){{0,8}}"
        is_label = (
            rf"(?:is|are) (?:not |both )?(?:{thing} or ){{0,3}}(?:{_any_of(labels)})(?=[.,;:]| (?:and|or)\b|\s*\Z)"
        )
        yield rf"\b(?:if|when|unless) (?:[^.,;:\n]{{1,160}}? (?:and|or) )?{things} {is_label}"
        yield rf"\b(?:if|when|unless) [^.,;:\n]{{1,160}}? and (?:{_any_of(labels)}) (?:is|are|never|always)\b"


def _spelt(text: str) -> str:
    """Return a pattern of the text's words, with any separators between them."""
    return r"[\W_]{1,3}".join(map(re.escape, words(text)))


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, of at most 100 of them."""
    return "|".join(sorted(filter(None, map(_spelt, texts)), key=len, reverse=True)[:100]) or "(?!)"
