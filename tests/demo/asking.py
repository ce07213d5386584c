"""Requests as a client of the demo model writes them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2

from vpp.demo import server
from vpp.demo.rules import Column

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "vpp" / "llm" / "templates" / "paper"
BINARY = "You are designed to do binary classification: predict label."
REGRESSION = "You are designed to do regression: predict y."


def columns(*names: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(Column(f"c{at}", name, "number", (), may_miss=False) for at, name in enumerate(names))


def listed(labels: Sequence[str]) -> str:
    return "\n".join(("Labels:", *(f"- {label}" for label in labels))) if labels else ""


def learner_prompt(hypothesis: str, row: str, labels: Sequence[str] = ()) -> str:
    form = f"{listed(labels)}\n\nAnswer in exactly this form:\nExplanation: one or two short sentences\nOutput: …"
    return (TEMPLATES / "learner.txt").read_text().format(hypothesis=hypothesis, input=row, answer_form=form)


def prior_prompt(sentence: str, columns: Sequence[tuple[str, str]], labels: Sequence[str] = ()) -> str:
    lines = "\n".join(f"{name}: {kind}" for name, kind in columns) + f"\n\n{listed(labels)}".rstrip()
    template = (TEMPLATES / "prior.txt").read_text()
    return template.format(hypothesis=sentence, columns=lines, answer_form="Reasoning: …\nNew rule: …")


def numbered(lines: Sequence[str], joint: str = " ") -> str:
    return "\n".join(f"[{at}]{joint}{line}" for at, line in enumerate(lines, 1))


def optimizer_prompt(
    hypothesis: str, rows: Sequence[str], predictions: Sequence[str], targets: Sequence[str], labels: Sequence[str] = ()
) -> str:
    template = (TEMPLATES / "optimizer.txt").read_text()
    return template.format(
        hypothesis=hypothesis,
        inputs=numbered(rows, "\n"),
        predictions=numbered(predictions),
        targets=numbered(targets),
        task=f"The output is the column label.\n\n{listed(labels)}",
        answer_form="Reasoning: …\nNew rule: …",
    )


def body(prompt: str, *, temperature: float = 0.0, seed: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": prompt}],
        "temperature": temperature,
        "seed": seed,
        **more,
    }


def reply(*contents: str) -> str:
    """Answer to a conversation: turns of user and model in turn."""
    messages = [{"role": ("user", "assistant")[at % 2], "content": content} for at, content in enumerate(contents)]
    return server.respond(server.ChatRequest.model_validate(body("") | {"messages": messages}))


def chat(client: httpx2.Client, payload: object) -> httpx2.Response:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return client.post("/chat/completions", content=data)
