"""The dataset's part of run.json, which may come from elsewhere: what every reader of a run counts on in it."""

from typing import Any, NotRequired

from pydantic import ConfigDict, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from vpp.data.dataset import Kind, Task


class _Notation(TypedDict, total=False):
    decimal: str
    grouping: str
    unit: str
    before: bool
    is_doubtful: bool


class _Column(TypedDict):
    name: str
    kind: Kind
    n_missing: NonNegativeInt
    n_distinct: NonNegativeInt
    notation: NotRequired[_Notation | None]
    is_chosen: NotRequired[bool]
    kept_words: NotRequired[list[str]]


class _Provenance(TypedDict, total=False):
    file: str
    sha256: str
    n_rows: int
    n_unlabelled: int
    n_left_out: int
    split: str
    test_file: str
    train_size: int
    test_size: int
    test_fraction: float
    notes: list[str]
    read_as: dict[str, str | bool | int]


class _Fields(TypedDict):
    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]
    name: str
    target: str
    task: Task
    columns: list[_Column]
    inputs: list[str]
    classes: list[str]
    provenance: _Provenance
    fingerprint: str
    n_train: PositiveInt
    n_test: NonNegativeInt


_FIELDS: TypeAdapter[_Fields] = TypeAdapter(_Fields)


def checked_fields(dataset: dict[str, Any]) -> dict[str, Any]:
    """Return the same fields. Raises ValueError for a missing or wrong field; no fields at all are allowed."""
    if not dataset:
        return dataset
    try:
        _FIELDS.validate_python(dataset)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from None
    if not dataset["inputs"]:
        raise ValueError("inputs names no column")
    if dataset["task"] == "classification" and not dataset["classes"]:
        raise ValueError("classes names no label")
    return dataset


def first_fault(error: ValidationError) -> str:
    """Return the place of the first wrong field, and what is wrong with it."""
    fault = error.errors()[0]
    return ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, "))))
