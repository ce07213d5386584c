"""What servers and models say, and what a user's own template makes of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from vpp.llm.packs import parse_pack

from tests.fuzz import stretching
from tests.fuzz.choices import TEXTS, Choices
from tests.fuzz.promises import promise
from tests.reporting.builders import NUMBERS, YES_NO
from vpp.errors import InputError
from vpp.llm import protocol
from vpp.llm.answers import EXPLANATION_LIMIT, RULE_LIMIT, Parsed, parse_label, parse_number, parse_rule
from vpp.llm.cache import _from_json, _to_json
from vpp.llm.choices import ROLES
from vpp.llm.forms import StructuredAnswers, is_kept, structure
from vpp.llm.gauges import load_words, read_load
from vpp.llm.protocol import (
    TEXT_LIMIT,
    OddReply,
    named_fields,
    printable,
    read_completion,
    read_models,
    retry_after_s,
    server_words,
    short_reason,
)
from vpp.llm.templates import SLOTS, Template, shipped

LABELS = ("yes", "no", "Yes ", "<img src=x>", "", "1", "1.0", "a" * 300, "Ä\u0308\n", "no answer")
ANSWERS = Path(__file__).parents[1] / "llm" / "answers.jsonl"
ARCHITECTURES = ((YES_NO, "text"), (NUMBERS, "text"), (YES_NO, "json"), (NUMBERS, "brief"))


def learner(data: bytes) -> None:
    """A label, a number, and answers about several inputs."""
    choices = Choices(data)
    unit = choices.pick(("", "€", "%", "cm", "[", "\\", "("))
    classes = LABELS[: 2 + choices.below(len(LABELS) - 1)]
    said = stretching.text(choices, most=TEXT_LIMIT)
    label, number = parse_label(said, classes), parse_number(said, unit=unit)
    promise(label.value is None or label.value in classes, "a label that is none")
    promise(number.value is None or abs(number.value) < float("inf"), "a number that is none")
    packs = parse_pack(said, (1, 2, 3, 999_999), lambda one: parse_label(one, classes))
    promise(set(packs) == {1, 2, 3, 999_999}, "an input was forgotten")
    for parsed in (label, number, *packs.values(), *parse_pack(said, (1,), parse_number).values()):
        _is_whole(parsed)
    for dataset, style in ARCHITECTURES:
        held = structure(StructuredAnswers("regex"), style, dataset, numbers=(1, 2), of=2)
        promise(held is None or is_kept(held, said) in (True, False), "neither kept nor broken")


def _is_whole(parsed: Parsed[object]) -> None:
    promise((parsed.value is None) == (parsed.reason is not None), "neither a value nor a reason, or both")
    promise(len(parsed.explanation) <= EXPLANATION_LIMIT, "an explanation too long")
    promise(len(parsed.reason or "") < 2_000, "a reason too long")


def answer_seeds() -> Iterator[bytes]:
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        yield b"\x00\x00" + stretching.PLAIN + json.loads(line)["answer"].encode("utf-8", "replace")
    yield b"\x00\x00" + stretching.STRETCHED + b"\x0d\x07Output:\x0d\x01 \x01\x02no"
    yield b"\x00\x00" + stretching.STRETCHED + b'\x0d\x0a"output": \x0d\x01[\x01\x02no'


def optimizer(data: bytes) -> None:
    """A new rule, or why there is none."""
    said = stretching.text(Choices(data), most=TEXT_LIMIT)
    parsed = parse_rule(said)
    _is_whole(parsed)
    promise(parsed.value is None or 0 < len(parsed.value) <= RULE_LIMIT, "a rule of no length, or too long")
    promise(parsed.value is None or parsed.value.strip(), "a rule of blanks")


def rule_seeds() -> Iterator[bytes]:
    for said in (
        "Reasoning: it fits.\n\nNew rule:\nSay yes if a is even, else no.",
        '{"reasoning": "it fits", "new_rule": "Say yes."}',
        "**New Rule:** ```\nSay yes.\n```",
        "<think>hm</think>\n## Revised hypothesis\nSay yes.",
    ):
        yield stretching.PLAIN + said.encode()
    yield stretching.STRETCHED + b"\x0d\x0aNew rule: \x0d\x01`\x01\x02no"


def wire(data: bytes) -> None:
    """A body under any status, and its headers."""
    choices = Choices(data)
    header = {"retry-after": choices.text()} if choices.byte() % 2 else {}
    wait = retry_after_s(header, now=datetime(2026, 1, 1, tzinfo=UTC))
    promise(wait is None or 0 <= wait <= protocol.RETRY_AFTER_LIMIT_S, "a wait out of bounds")
    body = stretching.content(choices, most=TEXT_LIMIT)
    try:
        completion = read_completion(body)
        promise(len(completion.text) <= TEXT_LIMIT, "an answer too long")
        promise(completion.prompt_tokens >= 0 and completion.completion_tokens >= 0, "counts below zero")
        promise(_from_json(_to_json(completion)) == _cached(completion), "the cache changes an answer")
    except OddReply as odd:
        promise(str(odd) and "\n" not in str(odd), "a reason that is no line")
    try:
        for model in read_models(body):
            promise(model.id.isprintable(), "a model's name that a terminal cannot print")
    except OddReply:
        pass
    words = short_reason(server_words(body, secret="sk-secret"), secret="sk-secret")
    promise("sk-secret" not in words and words.isprintable(), "a reason that tells the key, or is no line")
    promise(len(words) <= protocol.REASON_LIMIT + 1, "a reason too long")
    named_fields(body, ("temperature", "max_tokens", "structured_outputs"))
    load = read_load(body.decode("utf-8", "replace"))
    if load is not None:
        load_words(load)
    promise(printable(server_words(body)) == server_words(body), "printable is not its own")


def _cached(completion: protocol.Completion) -> protocol.Completion:
    return replace(completion, cached=True)


def wire_seeds() -> Iterator[bytes]:
    replies: tuple[object, ...] = (
        {"choices": [{"message": {"content": "Output: 1"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}},
        {"choices": [{"message": {"content": [{"type": "text", "text": "a"}], "reasoning": "b"}}]},
        {"choices": [{"message": {"content": None, "tool_calls": [1]}, "finish_reason": "length"}]},
        {"error": {"message": "m", "type": "t", "param": "temperature", "code": 400}},
        {"detail": [{"loc": ["body", "x"], "msg": "m", "input": "p"}]},
        {"object": "list", "data": [{"id": "m", "max_model_len": 2048}]},
    )
    yield from (b"\x00\x00" + stretching.PLAIN + json.dumps(reply).encode() for reply in replies)
    yield b"\x00\x00" + stretching.PLAIN + b'vllm:num_requests_running{a="b"} 3.0\nvllm:kv_cache_usage_perc 0.5\n'
    yield b"\x01\xc8Wed, 21 Oct 2015 07:28:00 GMT" + stretching.PLAIN + b"<html>"
    yield b"\x00\x00" + stretching.STRETCHED + b"\x12\x01["


def templates(data: bytes) -> None:
    """A user's own template, filled with harm: nothing in a value is a slot, and every value stands in the prompt."""
    choices = Choices(data)
    role = choices.pick(ROLES)
    values = {name: choices.text() for name in sorted(SLOTS[role])}
    form = choices.text()
    text = stretching.text(choices, most=25_000)
    try:
        template = Template(text, role=role)
    except InputError as error:
        promise("\n" not in str(error), "a refusal of several lines")
        return
    list(template.warnings())
    marks = {name: f"\x00{i}\x01" for i, name in enumerate(values)}
    bare = template.fill(answer_form="\x00form\x01", **marks)
    filled = template.fill(answer_form=form, **values)
    if not any(sign in "".join((*values.values(), form, text)) for sign in ("<<<", ">>>", "\x00", "\x01")):
        for name, mark in marks.items():
            bare = bare.replace(mark, values[name])
        promise(filled == bare.replace("\x00form\x01", form), "a value was read as part of the template")


def template_seeds() -> Iterator[bytes]:
    for place, role in enumerate(ROLES):
        yield bytes([place, *[14] * 6]) + stretching.PLAIN + shipped(role, "paper").text.encode()
        slots = " ".join(f"{{{name}}}" for name in sorted(SLOTS[role]))
        for form in ("answer_form", "answer_form_json"):
            text = f"{slots} {{{{x}}}} {{{form}}} {{0.__class__}}"
            yield bytes([place, *[0, 19] * len(SLOTS[role]), 0, 20]) + stretching.PLAIN + text.encode()


def cache_rows(data: bytes) -> None:
    """A row of the cache that somebody else wrote is a miss, or a whole answer."""
    choices = Choices(data)
    found = _from_json(stretching.text(choices, most=100_000))
    if found is not None:
        promise(isinstance(found.text, str) and found.cached, "half an answer")
        promise(isinstance(found.prompt_tokens + found.completion_tokens, int), "counts that are none")


def cache_seeds() -> Iterator[bytes]:
    whole = {"text": "a", "finish_reason": "stop", "prompt_tokens": 1, "completion_tokens": 2, "reasoning": None}
    yield stretching.PLAIN + json.dumps(whole).encode()
    yield stretching.PLAIN + json.dumps({**whole, "cached": True, "more": [TEXTS[0]]}).encode()
    yield stretching.STRETCHED + b'\x11\x05{"a":'
