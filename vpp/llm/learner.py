"""The learner: a model that applies a hypothesis to rows, one or several a request."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from vpp.data.dataset import Dataset, Row
from vpp.errors import PromptTooLong
from vpp.hypothesis import hypothesis_id
from vpp.llm.answers import Parsed, parse_label, parse_number, parse_pack
from vpp.llm.conversation import ASKS, Chat, answer, complaint, question, told_of_cut, whole_lines
from vpp.llm.counters import Counters
from vpp.llm.prompts import outputs_of, render_input, render_inputs, rule_of, units
from vpp.llm.protocol import Completion, Message
from vpp.llm.structure import FREE_TEXT, Structure, StructuredAnswers, answer_form, structure
from vpp.llm.templates import Template, keep_inside_fence
from vpp.llm.values import Bounds
from vpp.problem import Prediction
from vpp.usage import Account, open_account, tell

THOUGHTS_LIMIT = 1_000
"""Characters of a thinking model's thoughts that are kept beside an answer that can be read."""
OnAnswer = Callable[[str, Prediction, int], None]
"""Called with a hypothesis' id, what it gave for a row, and how many answers that took."""
Read = Parsed[str] | Parsed[float]
Given = tuple[Prediction, int]
"""What was given for a row, and after how many answers."""


@dataclass(slots=True, eq=False)
class _Ahead:
    """What nobody has needed so far, answered or under way: its request's account, and those of who may need it."""

    account: Account
    claims: set[Account] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class _Asking:
    """A request under way, the questions it answers, and how many callers wait for it."""

    keys: tuple[tuple[str, int], ...]
    task: asyncio.Task[None]
    waiting: int = 0


class LlmLearner:
    """f(x; theta): a model asked once a (hypothesis, row), the same whatever the order in which calls finish.

    Rows are told apart by their id, so a learner serves the rows of one table. Which rows share a request is decided
    when they are asked for: it depends on what was answered in earlier rounds, and on the order of the calls in this
    one only where two of them about one hypothesis name different rows. An answer that was asked for ahead of its turn
    is told of, and its calls count, once it is needed; once all who may need it have dropped it, it is forgotten.
    """

    def __init__(
        self,
        endpoint: Chat,
        template: Template,
        dataset: Dataset,
        *,
        seed: int,
        max_tokens: int,
        counters: Counters,
        points_per_call: int = 1,
        temperature: float = 0.0,
        on_answer: OnAnswer | None = None,
        structured: StructuredAnswers = FREE_TEXT,
        warm_prefix: bool = False,
    ) -> None:
        """`max_tokens` is a row's; `on_answer` hears of every new answer once, in the order in which they arrive.

        warm_prefix: of several requests about a hypothesis the first goes alone, and the others once it is back.
        """
        self._endpoint = endpoint
        self._template = template
        self._dataset = dataset
        self._units = units(dataset)
        self._expected = _expected(dataset)
        self._seed = seed
        self._max_tokens = max_tokens
        self._counters = counters
        self._points_per_call = points_per_call
        self._temperature = float(temperature)
        self._on_answer = on_answer
        self._structured = structured
        self._warm_prefix = warm_prefix
        self._memo: dict[tuple[str, int], Prediction] = {}
        self._asking: dict[tuple[str, int], _Asking] = {}
        self._ahead: dict[tuple[str, int], _Ahead] = {}

    def preload(self, entries: Iterable[tuple[str, Prediction]]) -> None:
        """Remembers (hypothesis id, prediction) pairs of an earlier session; nobody is told of them."""
        for hypothesis, prediction in entries:
            self._memo[hypothesis, prediction.row] = _without_thoughts(prediction)

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """One prediction a row, in the order of `rows`, without the thoughts that `on_answer` hears of.

        Raises EndpointError.
        """
        identity = hypothesis_id(hypothesis)
        missing = {row.id: row for row in rows if (identity, row.id) not in self._memo}
        if self._ahead:
            self._need(identity, (row.id for row in rows))
        if missing:
            await self._fetch(identity, hypothesis, tuple(missing.values()))
        return tuple(self._memo[identity, row.id] for row in rows)

    def messages(self, hypothesis: str, rows: Sequence[Row]) -> list[Message]:
        """What is first asked about a row, or about several at once, each under its number from 1."""
        return self._messages(self._pieces(hypothesis, len(rows)), rows)

    def _pieces(self, hypothesis: str, count: int) -> tuple[str, ...]:
        """The question about so many rows, without them."""
        return _around_input(self._template, self._dataset, hypothesis, count, self._structured)

    def _messages(self, pieces: tuple[str, ...], rows: Sequence[Row]) -> list[Message]:
        return [*self._template.opening, question(_shown(rows, self._units).join(pieces))]

    def _need(self, identity: str, rows: Iterable[int]) -> None:
        """What was asked ahead counts from now on; for one who asks ahead too, from when his own turn comes."""
        account = open_account()
        for key in {(identity, row) for row in rows} & self._ahead.keys():
            if account is None:
                self._settle(key)
            elif account not in self._ahead[key].claims:
                self._ahead[key].claims.add(account)
                account.owe(partial(self._settle, key), otherwise=partial(self._drop, key, account))

    def _settle(self, key: tuple[str, int]) -> None:
        if ahead := self._ahead.pop(key, None):
            ahead.account.settle()

    def _drop(self, key: tuple[str, int], account: Account) -> None:
        if ahead := self._ahead.get(key):
            ahead.claims.discard(account)
            self._forget(key)

    def _forget(self, key: tuple[str, int]) -> None:
        """Where nobody may need it any more. A request that others may still join goes once it is left."""
        if key in self._ahead and not self._ahead[key].claims and key not in self._asking:
            del self._ahead[key]
            self._memo.pop(key, None)

    async def _fetch(self, identity: str, hypothesis: str, rows: Sequence[Row]) -> None:
        """Waits for every row's answer. A request ends early only when nobody waits for it any more."""
        joined = self._join(identity, hypothesis, rows)
        try:
            done, _ = await asyncio.wait([each.task for each in joined], return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for asking in joined:
                self._leave(asking)

    def _join(self, identity: str, hypothesis: str, rows: Sequence[Row]) -> list[_Asking]:
        """The requests, under way or begun here, that answer the rows."""
        new = [row for row in rows if (identity, row.id) not in self._asking]
        packs = [new[first : first + self._points_per_call] for first in range(0, len(new), self._points_per_call)]
        pieces = {count: self._pieces(hypothesis, count) for count in {len(pack) for pack in packs}}
        warming = None
        for pack in packs:
            task = self._begin(identity, pieces[len(pack)], pack, after=warming)
            warming = warming or (task if self._warm_prefix else None)
        joined = list(dict.fromkeys(self._asking[identity, row.id] for row in rows))
        for asking in joined:
            asking.waiting += 1
        if self._ahead:
            self._need(identity, (row.id for row in new))
        return joined

    def _begin(
        self, identity: str, pieces: tuple[str, ...], rows: Sequence[Row], *, after: asyncio.Task[None] | None
    ) -> asyncio.Task[None]:
        keys = tuple((identity, row.id) for row in rows)
        context = None
        if ahead := open_account():
            account = self._account(ahead)
            context = account.context()
            self._ahead.update((key, _Ahead(account)) for key in keys)
        task = asyncio.create_task(self._answer(identity, pieces, rows, after), context=context)
        self._asking.update(dict.fromkeys(keys, _Asking(keys, task)))
        return task

    def _account(self, ahead: Account) -> Account:
        """Of a request begun ahead of its turn: it is needed as soon as one of its answers is."""
        account = Account(is_guess=ahead.is_guess)
        if ahead.is_guess:
            self._counters.add(ahead=1, ahead_unused=1)
            account.owe(partial(self._counters.add, ahead_unused=-1))
        return account

    def _leave(self, asking: _Asking) -> None:
        asking.waiting -= 1
        if asking.waiting:
            return
        for key in asking.keys:
            self._asking.pop(key, None)
        is_answered = asking.task.done() and not asking.task.cancelled() and asking.task.exception() is None
        if not is_answered:
            asking.task.cancel()
        for key in asking.keys:
            if is_answered:
                self._forget(key)
            else:
                self._ahead.pop(key, None)

    async def _answer(
        self, identity: str, pieces: tuple[str, ...], rows: Sequence[Row], after: asyncio.Task[None] | None
    ) -> None:
        if after is not None:
            await asyncio.wait((after,))
        for prediction, attempts in await self._ask(self._messages(pieces, rows), rows):
            if self._on_answer is not None:
                tell(partial(self._on_answer, identity, prediction, attempts))
            self._memo[identity, prediction.row] = _without_thoughts(prediction)

    async def _ask(self, messages: list[Message], rows: Sequence[Row]) -> list[Given]:
        """What the model gives for each row; only rows without a readable answer are asked about again."""
        given: dict[int, Given] = {}
        left = dict(enumerate(rows, 1))
        for attempt in range(1, ASKS + 1):
            asked = structure(self._structured, self._template.style, self._dataset, numbers=tuple(left), of=len(rows))
            try:
                completion = await self._complete(messages, len(left), asked)
            except PromptTooLong as refusal:
                return self._without_room(rows, given, refusal)
            read = self._read(completion, left, of=len(rows))
            if inferred := sum(one.inferred for one in read.values()):
                self._counters.add(inferred=inferred)
            given |= {number: (_prediction(row, read[number], completion), attempt) for number, row in left.items()}
            left = {number: row for number, row in left.items() if read[number].value is None}
            if not left:
                break
            self._counters.add(unparsable=1)
            faults = {number: read[number].reason for number in left}
            messages = [*messages, *_complaint(completion.text, faults, of=len(rows))]
        return [given[number] for number in sorted(given)]

    def _without_room(self, rows: Sequence[Row], given: Mapping[int, Given], refusal: PromptTooLong) -> list[Given]:
        """What was given before the conversation outgrew the context; at the first question, abstentions.

        Raises the refusal where nothing was ever answered: then it is not the hypothesis that is too long.
        """
        if not given and not self._memo:
            raise refusal
        self._counters.add(unparsable=1)
        none = (Prediction(row=row.id, value=None, raw="", reason=str(refusal)) for row in rows)
        return [given.get(number, (prediction, 1)) for number, prediction in enumerate(none, 1)]

    async def _complete(self, messages: list[Message], n_rows: int, asked: Structure | None) -> Completion:
        completion = await self._endpoint.complete(
            messages,
            temperature=self._temperature,
            seed=self._seed,
            max_tokens=self._max_tokens * n_rows,
            structured=asked,
        )
        self._counters.add(learner=1)
        return completion

    def _read(self, completion: Completion, numbers: Iterable[int], *, of: int) -> dict[int, Read]:
        """What the answer says of each number of a pack `of` so many rows."""
        text = whole_lines(completion)
        read = {1: self._parse(text)} if of == 1 else parse_pack(text, numbers, self._parse)
        return {number: told_of_cut(one, completion) for number, one in read.items()}

    def _parse(self, text: str) -> Read:
        if self._dataset.task == "regression":
            unit = self._units.get(self._dataset.target, "")
            return parse_number(text, unit=unit, expected=self._expected)
        return parse_label(text, self._dataset.classes)


def _expected(dataset: Dataset) -> Bounds | None:
    """The training targets, with their range once more on either side; None for labels."""
    if dataset.task == "classification" or not dataset.train:
        return None
    targets = [float(row.target) for row in dataset.train if row.target is not None]
    return min(targets) - dataset.target_range, max(targets) + dataset.target_range


def learner_messages(
    template: Template,
    dataset: Dataset,
    hypothesis: str,
    rows: Sequence[Row],
    structured: StructuredAnswers = FREE_TEXT,
) -> list[Message]:
    """What is first asked about a row, or about several at once, each under its number from 1."""
    pieces = _around_input(template, dataset, hypothesis, len(rows), structured)
    return [*template.opening, question(_shown(rows, units(dataset)).join(pieces))]


def _around_input(
    template: Template, dataset: Dataset, hypothesis: str, count: int, structured: StructuredAnswers
) -> tuple[str, ...]:
    """The question about so many rows in pieces, between which they stand."""
    form = answer_form(structured, template.style, dataset, count)
    return template.around(
        "input",
        hypothesis=hypothesis,
        rule=rule_of(dataset, hypothesis),
        outputs=outputs_of(dataset),
        answer_form=form,
    )


def _shown(rows: Sequence[Row], units: Mapping[str, str]) -> str:
    """Rows as a prompt holds them."""
    shown = render_input(rows[0], units) if len(rows) == 1 else render_inputs(rows, units)
    return keep_inside_fence(shown)


def _prediction(row: Row, read: Read, completion: Completion) -> Prediction:
    """What was read, or an abstention with the answer in which nothing could be."""
    thoughts = completion.reasoning or ""
    if read.value is not None:
        return Prediction(
            row=row.id, value=read.value, explanation=read.explanation, thoughts=thoughts[:THOUGHTS_LIMIT]
        )
    return Prediction(
        row=row.id,
        value=None,
        explanation=read.explanation,
        raw=completion.text,
        reason=read.reason,
        thoughts=thoughts,
    )


def _without_thoughts(prediction: Prediction) -> Prediction:
    """What is remembered of an answer: thoughts are long, and nothing is worked out from them."""
    return replace(prediction, thoughts="") if prediction.thoughts else prediction


def _complaint(raw: str, faults: Mapping[int, str | None], *, of: int) -> list[Message]:
    """What is wrong with the answer; of a pack, with the answers to which inputs."""
    if of == 1:
        return complaint(raw, faults[1])
    listed = "\n".join(f"[{number}]: {reason}" for number, reason in faults.items())
    return [
        answer(raw),
        question(
            f"Not every answer could be read:\n{listed}\n"
            "Answer these inputs again, and only these, each under its own number, in exactly the asked form."
        ),
    ]
