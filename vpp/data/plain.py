"""Cells of Excel and Parquet as plain text: shortest numbers, ISO dates, lists as JSON."""

import json
import math
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

_MIDNIGHT = time()


def plain_texts(values: Sequence[Any]) -> list[str]:
    """(n,) a text a cell, empty for a missing one. Floats that are all whole lose their `.0`, dates their midnight."""
    whole = all(value.is_integer() or not math.isfinite(value) for value in values if isinstance(value, float))
    days = not any(_has_time(value) for value in values if isinstance(value, date))
    return [_text(value, whole=whole, days=days) for value in values]


def _text(value: Any, *, whole: bool, days: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return _number(value, whole=whole)
    if isinstance(value, datetime):
        return value.date().isoformat() if days else value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_jsonable)
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


def _number(value: float, *, whole: bool) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if whole and math.isfinite(value) and abs(value) < 1e15 else repr(value)


def _has_time(value: date) -> bool:
    return isinstance(value, datetime) and (value.time() != _MIDNIGHT or value.tzinfo is not None)


def _jsonable(value: Any) -> str:
    return value.isoformat() if isinstance(value, date | time) else str(value)
