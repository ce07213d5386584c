"""`demo-server` and `check-endpoint`."""

import asyncio
import os
import sys
from argparse import Namespace
from contextlib import AsyncExitStack
from typing import NoReturn

from vpp.cli.surroundings import environment, keys
from vpp.errors import InputError
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint, Probe
from vpp.runs.session import demo_server as demo_process


def demo_server(options: Namespace) -> NoReturn:
    """Serves the demo model until it is interrupted; it is a program of its own."""
    names = ("host", "port", "latency_ms", "jitter", "capacity", "fail_rate", "garble_rate")
    arguments = [word for name in names for word in (f"--{name.replace('_', '-')}", str(getattr(options, name)))]
    os.execv(sys.executable, [sys.executable, "-m", "vpp.demo", *arguments])


def check_endpoint(options: Namespace) -> int:
    """Says in plain words what a server does."""
    probe = asyncio.run(_probe(options))
    print("\n".join(told(probe)))
    return 0 if probe.model_ok else 3


async def _probe(options: Namespace) -> Probe:
    env = environment()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(demo_process(0)) if options.demo else options.base_url or env.base_url
        model = "demo" if options.demo else options.model or env.model
        if not url or not model:
            raise InputError(
                "no endpoint: give --base-url and --model (or set OPENAI_BASE_URL and VPP_MODEL), or --demo"
            )
        endpoint = Endpoint(base_url=url, model=model, api_key=keys().learner, counters=Counters())
        stack.push_async_callback(endpoint.aclose)
        return await endpoint.probe()


def told(probe: Probe) -> list[str]:
    """What was found, a line each."""
    if not probe.reachable:
        return [f"not reachable: {probe.reason}"]
    names = [model.id for model in probe.models]
    lines = ["reachable", f"models: {', '.join(names) if names else 'the server lists none'}"]
    if probe.context_length:
        lines.append(f"context length: {probe.context_length:,} tokens")
    if probe.round_trip_s is not None:
        lines.append(f"the model answers: one short answer took {probe.round_trip_s:.2f} s")
    else:
        lines.append(f"the model does not answer: {probe.reason}")
    return lines
