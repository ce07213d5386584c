"""Programs from a model: a hypothesis is translated once, checked on rows, and answers every row from then on."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from vpp.data.dataset import Dataset, Row, Value
from vpp.events import Counters, hypothesis_id
from vpp.llm.learner import ASKS, Chat, LearnerOptions, LlmLearner, OnAnswer, RoleChat, Shared
from vpp.llm.prompts import NO_RULE, ProgramPrompts, question, rule_of
from vpp.llm.protocol import Completion
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.programs.sandbox import CHUNK, Given, Sandbox, Yes
from vpp.programs.source import REFUSAL, Program, ProgramFault, read_program

OnProgram = Callable[[Translation | TextAnswer], None]
"""Called once for each new translation, and for each new answer about a text."""
CHECKED = CHUNK
"""Most training rows on which a program is checked before it is used."""
REPEATED_LIMIT = 4_000
"""Characters of an answer that are shown to the model again."""
NO_PROGRAM = "the model says that no program can follow it"
NO_RULE_YET = "it holds no rule yet"
_YES, _NO = re.compile(r"\W*yes\b", re.IGNORECASE), re.compile(r"\W*no\b", re.IGNORECASE)


@dataclass(eq=False)
class ProgramLearner:
    """f(x; theta): the program that the learner wrote from theta. Without one, the learner itself reads each row."""

    by_row: LlmLearner
    """Reads rows where there is no program, if `falls_back`; else such rows have no answer."""
    endpoint: Chat
    prompts: ProgramPrompts
    options: LearnerOptions
    sandbox: Sandbox
    counters: Counters
    falls_back: bool
    on_program: OnProgram = lambda _: None
    on_answer: OnAnswer = lambda *_: None
    """Called for the answers of programs too, with 0 attempts."""

    def __post_init__(self) -> None:
        self._columns = self.prompts.columns
        self._chat = RoleChat(self.endpoint, self.counters, "learner")
        self._ask = partial(self._chat.complete, temperature=0.0, seed=self.options.seed)
        self._translations = Shared[str, Translation]()
        self._texts = Shared[tuple[str, str], TextAnswer]()
        self._predictions: dict[tuple[str, int], Prediction] = {}

    def preload(self, entries: Iterable[tuple[str, Prediction]]) -> None:
        self.by_row.preload(entries)

    def preload_programs(self, entries: Iterable[Translation | TextAnswer]) -> None:
        """Keep programs and answers about texts of an earlier session, without calling `on_program`."""
        for entry in entries:
            if isinstance(entry, Translation):
                self._translations.answers[entry.hypothesis] = entry
            else:
                self._texts.answers[entry.question, entry.text] = entry

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """Return one prediction a row, in the order of `rows`. Raises EndpointError."""
        identity = hypothesis_id(hypothesis)
        program = await self.program(hypothesis)
        if program is None:
            reason = self._translations.answers[identity].reason
            if self.falls_back and reason != NO_RULE_YET:
                return await self.by_row.predict(hypothesis, rows)
            return tuple(Prediction(row=row.id, value=None, reason=reason) for row in rows)
        known = {row.id: each for row in rows if (each := self._predictions.get((identity, row.id)))}
        for prediction in await self._apply(program, [row for row in rows if row.id not in known]):
            known[prediction.row] = prediction
            if len(rows) <= CHECKED:  # the predictions of a large table are not worth their memory
                self._predictions[identity, prediction.row] = prediction
            self.on_answer(identity, prediction, 0)
        return tuple(known[row.id] for row in rows)

    def needs_model(self, hypothesis: str) -> bool:
        """Return False if the hypothesis has a program already, which asks about no text."""
        translation = self._translations.answers.get(hypothesis_id(hypothesis))
        return translation is None or translation.code is None or bool(self._read(translation.code).questions)

    async def program(self, hypothesis: str) -> Program | None:
        """Return the hypothesis as a program; None if it cannot be one. Raises EndpointError."""
        identity = hypothesis_id(hypothesis)
        code = (await self._translations.get({identity: partial(self._translate, hypothesis)}))[identity].code
        return None if code is None else self._read(code)

    def _read(self, answer: str) -> Program:
        return read_program(answer, self._columns.aliases, self._columns.texts)

    async def _translate(self, hypothesis: str) -> Translation:
        """Ask for a program, and again with its code and its fault, until one passes the check."""
        has_rule = rule_of(self.prompts.dataset, hypothesis) != NO_RULE
        # the limit of an answer about one row is meant for a sentence
        messages, tokens = self.prompts.translation(hypothesis), max(1_024, self.options.max_tokens)
        code, fault, attempt = None, NO_RULE_YET, 0
        for attempt in range(1, ASKS + 1) if has_rule else ():
            answer = await self._ask(messages, max_tokens=tokens)
            code, fault = await self._code_of(answer, is_last=attempt == ASKS)
            reason = None if fault in ("", NO_PROGRAM) else fault
            self._chat.judge(answer, reason, is_usable=self.falls_back)
            if reason is None or answer.refusal:
                break
            said = {"role": "assistant", "content": answer.text.strip()[:REPEATED_LIMIT] or "(empty)"}
            words = f"That cannot be used: {fault}. Write the whole function again, as code alone."
            messages = [*messages, said, question(words)]
        identity = hypothesis_id(hypothesis)
        translation = Translation(hypothesis=identity, code=code, reason=fault or None, attempts=attempt)
        self.on_program(translation)
        return translation

    async def _code_of(self, answer: Completion, *, is_last: bool) -> tuple[str | None, str]:
        """Return the code of an answer that passes the check, or its fault."""
        if answer.refusal or REFUSAL.match(answer.text):
            return None, answer.refusal or NO_PROGRAM
        try:
            program = self._read(answer.text)
            await self._check(program, is_last=is_last)
        except ProgramFault as error:
            return None, str(error)
        return program.code, ""

    async def _check(self, program: Program, *, is_last: bool) -> None:
        """Run the program on the training rows. Raises ProgramFault for the first that it does not answer.

        At the last attempt a program may leave rows with a missing cell unanswered.
        """
        rows = self.prompts.dataset.train[:CHECKED]
        for row, prediction in zip(rows, await self._apply(program, rows), strict=True):
            cells = self._columns.cells(row, program.columns)
            if prediction.value is None and not (is_last and None in cells):
                given = ", ".join(f"{name} = {cell!r}" for name, cell in zip(program.columns, cells, strict=True))
                raise ProgramFault(f"on the row with {given[:REPEATED_LIMIT]} {prediction.reason}")

    async def _apply(self, program: Program, rows: Sequence[Row]) -> list[Prediction]:
        if not rows:
            return []
        cells = [self._columns.cells(row, program.columns) for row in rows]
        yes = await self._answers_about(program, cells) if program.questions else {}
        given = await self.sandbox.run(program, cells, yes)
        return [prediction_of(row, each, program, self.prompts.dataset) for row, each in zip(rows, given, strict=True)]

    async def _answers_about(self, program: Program, rows: Sequence[Sequence[object]]) -> Yes:
        """Return the answers to all questions of a program about texts, those of no earlier program in one round.

        rows: (N, columns of the program). A text that is missing, or gets no readable answer, counts as no.
        """
        texts: dict[tuple[str, str], str] = {}
        for words, column in program.questions:
            cells = (row[program.columns.index(column)] for row in rows)
            texts |= {(words, hypothesis_id(text)): text for text in dict.fromkeys(map(str, filter(None, cells)))}
        answers = await self._texts.get({at: partial(self._ask_about, *at, text) for at, text in texts.items()})
        yes: dict[str, dict[str, bool]] = {words: {} for words, _ in program.questions}
        for (words, id_), text in texts.items():
            yes[words][text] = bool(answers[words, id_].yes)
        return yes

    async def _ask_about(self, words: str, id_: str, text: str) -> TextAnswer:
        said = await self._ask(self.prompts.about_text(words, text), max_tokens=self.options.max_tokens)
        yes = True if _YES.match(said.text) else False if _NO.match(said.text) else None
        self._chat.judge(said, "neither yes nor no" if yes is None else None)
        answer = TextAnswer(question=words, text=id_, yes=yes, attempts=1)
        self.on_program(answer)
        return answer


def prediction_of(row: Row, given: Given, program: Program, dataset: Dataset) -> Prediction:
    """Return what a program gives for a row as a prediction; an abstention if it is no label or no finite number."""
    value: Value | None = None
    fault = given.fault and f"it fails: {given.fault}"
    if not fault:
        value = _value(given.value, dataset)
        outputs = f"one of the labels {', '.join(dataset.classes)}" if dataset.classes else "a finite number"
        fault = "" if value is not None else f"it gives {given.value!r}, which is not {outputs}"
    explanation = "" if given.branch is None else program.words(given.branch)
    return Prediction(row=row.id, value=value, branch=given.branch, explanation=explanation, reason=fault or None)


def _value(given: object, dataset: Dataset) -> Value | None:
    """The label or the number that a program gives; a whole number is the label written so."""
    number = float(given) if isinstance(given, int | float) and math.isfinite(given) else None
    if dataset.task == "regression":
        return None if isinstance(given, bool) else number
    whole = str(int(given)) if isinstance(given, int | float) and number is not None and number.is_integer() else ""
    return next((label for label in (str(given), whole) if label in dataset.classes), None)
