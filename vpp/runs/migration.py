"""Migration of older records and run.json files to the current version, one version at a time.

Versions of a journal's records (`v`) and of run.json (`schema`; none is 1):

1  until 0.1. Fields that came since have defaults that stand for what was done then.
2  `run_paused` tells when it tries again (`retry_at`); `run_failed` may name the disk. A run.json of version 1
   without `deduplicate_buffer` is of a run whose buffer held repeats, one without `mutate` of a run without a filter.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from vpp.events import SCHEMA_VERSION

Fields = dict[str, Any]
_TODAY = b'{"v":%d,' % SCHEMA_VERSION


class NewerVersion(ValueError):
    """A newer program wrote it."""


def _unchanged(fields: Fields) -> Fields:
    """Return the same fields: the next version only added some with defaults."""
    return fields


def _with_former_ways(spec: Fields) -> Fields:
    """Add options that older runs lack, with the values that describe what those runs did."""
    config = spec.get("config")
    return {**spec, "config": {**_FORMER_WAYS, **config}} if isinstance(config, dict) else spec


_FORMER_WAYS: Fields = {"deduplicate_buffer": False, "mutate": "every"}


RECORD_STEPS: Mapping[int, Callable[[Fields], Fields]] = {1: _unchanged}
"""Functions that migrate a record to the next version, by version."""
SPEC_STEPS: Mapping[int, Callable[[Fields], Fields]] = {1: _with_former_ways}
"""Functions that migrate run.json to the next version, by version."""


def record_of_today(line: bytes) -> bytes:
    """Return a journal's line in the current version. Raises ValueError if it is no record, or a newer one."""
    if line.startswith(_TODAY):
        return line
    return to_json(_lifted(from_json(line), "v", RECORD_STEPS), inf_nan_mode="strings")


def spec_of_today(content: Any) -> Fields:
    """Return run.json's content in the current version. Raises ValueError if it is none, or a newer one."""
    return _lifted(content, "schema", SPEC_STEPS)


def _lifted(content: Any, field: str, steps: Mapping[int, Callable[[Fields], Fields]]) -> Fields:
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    version = content.get(field, 1)
    if type(version) is not int or version < 1:
        raise ValueError(f"it names no version that there is as {field}")
    if version > SCHEMA_VERSION:
        raise NewerVersion(f"written by a newer vpp, as version {version}")
    for step in range(version, SCHEMA_VERSION):
        content = steps[step](content)
    return {**content, field: SCHEMA_VERSION}
