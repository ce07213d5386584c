"""`demo-server` and `check-endpoint`."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NoReturn

from vpp.cli.running import endpoint_of
from vpp.cli.surroundings import keys
from vpp.errors import InputError
from vpp.runs.checking import Checked, checking
from vpp.runs.preparation import NO_ENDPOINT, check_limits
from vpp.wording.checks import verdict


def demo_server(options: Namespace) -> NoReturn:
    """Serves the demo model until it is interrupted; it is a program of its own."""
    names = ("host", "port", "latency_ms", "jitter", "capacity", "fail_rate", "garble_rate")
    arguments = [word for name in names for word in (f"--{name.replace('_', '-')}", str(getattr(options, name)))]
    os.execv(sys.executable, [sys.executable, "-m", "vpp.demo", *arguments])


def check_endpoint(options: Namespace) -> int:
    """Says in plain words what the servers of a run do, a line each, as it is found."""
    spec = endpoint_of(options)
    if not spec.is_started_here and not spec.base_url:
        raise InputError(NO_ENDPOINT)
    check_limits(spec)
    found: list[Checked] = []
    for one in checking(spec, keys()):
        if not options.json:
            print("\n".join(told(one, is_first=not found or found[-1].roles != one.roles)), flush=True)
        found.append(one)
    if options.json:
        print(json.dumps(as_json(found), ensure_ascii=False))
    else:
        print(verdict(found).words)
    if not spec.model and all(one.finding.mark != "fails" for one in found):
        return 2
    return 0 if is_usable(found) else 3


def told(one: Checked, *, is_first: bool) -> list[str]:
    """A finding as a line, under its server's name where it is the first about it."""
    head = f"{' and '.join(one.roles)}: {one.model or 'no model named'} at {one.base_url}"
    line = f"  {one.finding.mark:<5}  {one.finding.name}: {one.finding.words}"
    return [head, line] if is_first else [line]


def as_json(found: Sequence[Checked]) -> dict[str, Any]:
    """All findings, by server."""
    servers: dict[tuple[str, ...], dict[str, Any]] = {}
    for one in found:
        server = {"roles": one.roles, "base_url": one.base_url, "model": one.model, "findings": []}
        finding = {"name": one.finding.name, "mark": one.finding.mark, "words": one.finding.words, **one.finding.values}
        servers.setdefault(one.roles, server)["findings"].append(finding)
    return {"usable": is_usable(found), "verdict": verdict(found).words, "servers": list(servers.values())}


def is_usable(found: Sequence[Checked]) -> bool:
    """Whether a run could begin: nothing fails, and every server's model has answered."""
    answered = {one.roles for one in found if one.finding.name == "answers"}
    return all(one.finding.mark != "fails" and one.roles in answered for one in found)
