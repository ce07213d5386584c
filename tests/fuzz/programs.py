"""The demo model, whose readers take any text for a rule; and settings as files hold them."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz import stretching
from tests.fuzz.choices import Choices
from tests.fuzz.journals import SHIPPED, folder
from tests.fuzz.promises import promise
from vpp.cli.options import _kind, _names, split_rule
from vpp.cli.system import dotenv
from vpp.demo import chat
from vpp.demo.learner import respond
from vpp.demo.optimizer import propose
from vpp.demo.prompt import LearnerQuestion, OptimizerQuestion
from vpp.demo.reading import LONGEST_TEXT
from vpp.errors import InputError
from vpp.llm.address import checked_address, checked_key
from vpp.llm.templates import shipped

LABELS = ("yes", "no")
ROWS = ("a: 3\nb: red\nc: [1, 2, 3]", "a: 4.5\nb: missing\nc: [2, 4]", "a: -1e300\nb: \nc: []", "a: 7\nb: blue\nc: x")


def rules(data: bytes) -> None:
    """Any hypothesis, applied to rows and improved: an answer comes, the same one twice."""
    choices = Choices(data)
    labels = choices.pick((LABELS, (), ("<img>", "1", "a b")))
    rule = stretching.text(choices, most=LONGEST_TEXT + 100)
    for row in ROWS[:2]:
        respond(LearnerQuestion(rule, (("", row),), labels))
    targets = tuple("yes" if i % 2 else "no" for i in range(len(ROWS))) if labels else ("1", "2.5", "nan", "-3")
    question = OptimizerQuestion(rule, ROWS, (None, "yes", "1", "no"), targets, labels)
    written = propose(question, temperature=1.0, seed=choices.byte())
    promise(written, "nothing was written")


def rule_seeds() -> Iterator[bytes]:
    events = map(json.loads, (SHIPPED / "events.jsonl").read_bytes().splitlines())
    texts = dict.fromkeys(e["event"]["text"] for e in events if e["event"].get("text"))
    for text in list(texts)[:40]:
        yield b"\x00" + stretching.PLAIN + text.encode()
    for text in (
        "The output is 3 * a + 4 if b is red, otherwise 2^a.",
        "If the sum of the list is even, say yes. Otherwise, if a is between 3 and 7, say no.",
        "y = \\frac{a}{2} - sqrt(abs(a)); round to 2 decimals",
    ):
        yield b"\x01" + stretching.PLAIN + text.encode()
    for piece in (b"\x0c\x04not ", b"\x0c\x02((", b"\x0c\x05if a ", b"\x0c\x03a ^", b"\x0c\x029.", b"\x0c\x02a,"):
        yield b"\x01" + stretching.STRETCHED + piece


def prompts(data: bytes) -> None:
    """A request's body: an answer in the protocol's shape, or a refusal in it."""
    choices = Choices(data)
    kind = choices.byte() % 3
    body = stretching.content(choices, most=100_000)
    if kind:
        text = body.decode("utf-8", "replace")
        message = {"role": "user", "content": text}
        body = json.dumps({"model": "demo", "messages": [message], "seed": 1, "temperature": kind - 1}).encode()
    try:
        request = chat.read_request(body)
        json.dumps(chat.completion(request, chat.respond(request)))
    except chat.BadRequest as refusal:
        json.dumps(refusal.body())


def prompt_seeds() -> Iterator[bytes]:
    learner = shipped("learner", "paper").fill(hypothesis="Say yes.", input="a: 3", answer_form="Labels:\n- yes\n- no")
    optimizer = shipped("optimizer", "paper").fill(
        hypothesis="Say yes.",
        inputs="[1]\na: 3\n[2]\na: 4",
        predictions="[1] yes\n[2] no answer",
        targets="[1] yes\n[2] no",
        task="Labels:\n- yes\n- no",
        answer_form="Answer in exactly this form:\nNew rule: the rule",
    )
    prior = shipped("prior", "paper").fill(hypothesis="Say yes.", columns="a: number\n\nLabels:\n- y", answer_form="f")
    for text in (learner, optimizer, prior):
        yield b"\x01" + stretching.PLAIN + text.encode()
    whole = {"model": "demo", "messages": [{"role": "user", "content": learner}], "max_tokens": 5, "seed": 2**70}
    yield b"\x00" + stretching.PLAIN + json.dumps(whole).encode()


def settings_files(data: bytes) -> None:
    """`.env`, addresses, keys and options of the command line."""
    choices = Choices(data)
    path: Path = folder() / ".env"
    path.write_bytes(stretching.content(choices, most=100_000))
    for name, value in dotenv(path).items():
        promise("\n" not in name + value, "a setting of several lines")
    text = path.read_text(encoding="utf-8", errors="replace")[:5_000]
    for read in (_kind, _names, split_rule, checked_address, checked_key):
        try:
            read(text)
        except (argparse.ArgumentTypeError, InputError):
            continue
