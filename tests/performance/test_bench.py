"""The bench's parts without their measuring: the simulated server, and the page of ratios."""

import asyncio
from typing import Any

import aiohttp
import pytest

from tests.markdown import END, put
from tests.performance.ratios import Ratio, divided, lines
from tests.performance.stub import Served, served

LABELS = "Labels:\n- café\n- no\n\nAnswer in exactly this form:\nOutput: one of the labels"
SCHEMA = {"type": "object", "properties": {"output": {"type": "string", "enum": ["a", "b"]}}}


def answers(stub: Served, *prompts: str, **options: Any) -> list[str]:
    """Ask all at once."""

    async def ask(session: aiohttp.ClientSession, prompt: str) -> str:
        body = {"model": "stub", "messages": [{"role": "user", "content": prompt}], **options}
        async with session.post(f"{stub.base_url}/chat/completions", json=body) as response:
            return str((await response.json())["choices"][0]["message"]["content"])

    async def every() -> list[str]:
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(ask(session, prompt) for prompt in prompts))

    return asyncio.run(every())


def test_the_request_decides_a_label_a_rule_or_an_object_of_the_schema() -> None:
    rows = [f"row {number}\n{LABELS}" for number in range(8)]
    schema = {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}
    with served(learner_s=0.0) as stub:
        first, again = answers(stub, *rows), answers(stub, *rows)
        rules = answers(stub, "New rule:", "New rule: ", "A numbered list of 2")
        objects = answers(stub, *rows, **schema)
        assert stub.counts()["calls"] == 27
    assert first == again
    assert {text.rpartition("Output: ")[2] for text in first} == {"café", "no"}
    assert len(set(rules)) == 3
    assert set(objects) == {'{"output": "a"}', '{"output": "b"}'}


def test_the_page_says_which_limits_are_missed(tmp_path: Any) -> None:
    ratios = [divided("a", 3.0, 2.0, unit="s", most=1.4), divided("b", 3.0, 2.0, unit="s"), Ratio(name="c", value=1.0)]
    assert [ratio.holds for ratio in ratios] == [False, True, True]
    page = tmp_path / "page.md"
    page.write_text(f"above\n<!-- bench -->\nold\n{END}\nbelow\n")
    put(page, "bench", lines(ratios))
    assert "| a | 1.50 | 1.4 (missed) | 3 / 2 s |\n| b | 1.50 | – | 3 / 2 s |" in page.read_text()
    with pytest.raises(ValueError, match="no place for third"):
        put(page, "third", [])
