"""A server of fixed latency on loopback that costs little, in a process of its own: `with served(0.3) as base_url:`.

The request decides the answer, so equal runs get equal answers. A request that asks for a new rule gets one that no
other request gets; any other gets one of the labels that it names.
"""

import asyncio
import gc
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from tests.llm.stub import Reply, Request, as_json, chat, serving
from tests.processes import ROOT

LABELS = re.compile(r"(?:Labels:\n- |one of: )(.+?)(?:\n\n|\Z|\nRule:)", re.DOTALL)


def answer(request: Request) -> Reply:
    body = json.dumps(request.body).encode()
    number = int.from_bytes(blake2b(body, digest_size=8).digest())
    question = request.body["messages"][-1]["content"]
    if any(words in question for words in ("ew rule", "Current rule", "What is known")):
        rule = f"Above {number % 97}.{number:016x} the output is yes, else no."
        text = f"Reasoning: the boundary moves.\nNew rule: {rule}"
    else:
        found = LABELS.search(question)
        labels = re.split(r"\n- |, ", found[1]) if found else ["0", "1"]
        text = f"Explanation: as the rule says.\nOutput: {labels[number % len(labels)].strip()}"
    return chat(text, prompt_tokens=len(body) // 4)


@contextmanager
def served(latency_s: float) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.performance.stub", str(latency_s)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


async def serve(latency_s: float) -> None:
    """Print the base URL and serve until standard input ends."""

    async def behave(request: Request) -> Reply:
        if not request.body:
            return as_json({"object": "list", "data": [{"id": "stub", "max_model_len": 32768}]})
        await asyncio.sleep(latency_s)
        return answer(request)

    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    async with serving(behave) as stub:
        print(stub.base_url, flush=True)
        await ended.wait()


if __name__ == "__main__":
    gc.disable()  # a pause would look like a slow client
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve(float(sys.argv[1])))
