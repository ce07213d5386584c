"""Environment variables: where this machine keeps runs, its endpoint, and what others may do on it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from vpp.errors import InputError


def _text(_: str, text: str) -> str | None:
    return text or None


def _folder(_: str, text: str) -> Path | None:
    return Path(text) if text else None


def _whole(name: str, text: str, *, default: int) -> int:
    """Read a whole number of at least 1. Raises InputError."""
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{name} is {text!r}: it must be a whole number of at least 1")
    return int(text)


def _switch(name: str, text: str) -> bool:
    """Read a clear yes or no: who may do what is never guessed. Raises InputError."""
    word = text.strip().lower()
    if word not in ("", "0", "1", "false", "true", "no", "yes", "off", "on"):
        raise InputError(f"{name} is {word[:80]!r}: write 1 or 0")
    return word in ("1", "true", "yes", "on")


def _listed(name: str, text: str) -> tuple[str, ...]:
    """Read a list separated by commas. Raises InputError for one without an entry: it would allow everything."""
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if text and not parts:
        raise InputError(f"{name} is {text!r}, a list of nothing: name one at least, or leave it out")
    return parts


def _variable(name: str, read: Callable[[str, str], object] = _text, *, is_secret: bool = False) -> Any:
    """Return a field that is read from a variable. read: gets its name and its text, empty if it is not set."""
    return field(repr=not is_secret, metadata={"name": name, "read": read})


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Folders for runs and cache, the default endpoint, and what others may do on this machine."""

    runs_dir: Path = _variable("VPP_RUNS_DIR", _folder)
    cache_dir: Path = _variable("VPP_CACHE_DIR", _folder)
    base_url: str | None = _variable("OPENAI_BASE_URL")
    model: str | None = _variable("VPP_MODEL")
    api_key: str | None = _variable("OPENAI_API_KEY", is_secret=True)
    max_running: int = _variable("VPP_MAX_RUNNING", partial(_whole, default=2))
    optimizer_base_url: str | None = _variable("VPP_OPTIMIZER_BASE_URL")
    """Server of a second model that writes the hypotheses; None: one model for both roles."""
    optimizer_model: str | None = _variable("VPP_OPTIMIZER_MODEL")
    allowed_endpoints: tuple[str, ...] = _variable("VPP_ALLOWED_ENDPOINTS", _listed)
    """Base URLs; if any are listed, or others reach the app, only these and the owner's own are asked."""
    endpoint_fixed: bool = _variable("VPP_ENDPOINT_FIXED", _switch)
    """The endpoint and model named here are asked, and no other."""
    demo_only: bool = _variable("VPP_DEMO_ONLY", _switch)
    """Only the built-in demo model is asked."""
    login: bool = _variable("VPP_LOGIN", _switch)
    """Nobody sees anything before they have logged in."""
    allowed_users: tuple[str, ...] = _variable("VPP_ALLOWED_USERS", _listed)
    """Who may, by verified e-mail address, *@domain, or issuer#sub; empty: whoever can log in."""
    shared: bool = _variable("VPP_SHARED", _switch)
    """Others than the owner are meant to reach the app, also without login."""
    allow_model_files: bool = _variable("VPP_ALLOW_MODEL_FILES", _switch)
    """Model files of this machine may be used where others reach the app."""
    max_runs_per_user: int = _variable("VPP_MAX_RUNS_PER_USER", partial(_whole, default=0))
    """Runs of one user that go on at once; 0: no cap."""

    @property
    def is_shared(self) -> bool:
        """True if others than the owner can reach the app, as far as variables say."""
        return self.shared or self.login or self.endpoint_fixed or self.demo_only or bool(self.allowed_endpoints)

    @property
    def may_use_model_files(self) -> bool:
        """True if runs may start a server for a model file of this machine."""
        return not self.demo_only and (self.allow_model_files or not self.is_shared)

    @classmethod
    def read(cls, dotenv: Mapping[str, str] | None = None) -> "Environment":
        """Read the process's environment, then `dotenv`, then defaults. Raises InputError."""
        return cls.of({**(dotenv or {}), **os.environ})

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Environment":
        _check_names(values)
        given = {}
        for each in fields(cls):
            name = each.metadata["name"]
            given[each.name] = each.metadata["read"](name, values.get(name) or "")
        runs_dir = given.pop("runs_dir") or usual_runs_dir()
        cache_dir = given.pop("cache_dir") or runs_dir / ".cache"
        environment = cls(runs_dir=runs_dir, cache_dir=cache_dir, **given)
        if environment.endpoint_fixed and not (environment.base_url and environment.model):
            raise InputError("VPP_ENDPOINT_FIXED is on, and no endpoint is named: set OPENAI_BASE_URL and VPP_MODEL")
        if environment.allowed_users and not environment.login:
            raise InputError("VPP_ALLOWED_USERS is set, and nobody is asked to log in: set VPP_LOGIN=1 too")
        return environment


def app_folder() -> Path:
    """Return the folder that holds app.py, pages and assets: inside an installed package, or the clone."""
    package = Path(__file__).parent
    return installed if (installed := package / "_app").is_dir() else package.parent


def command_path(file: Path) -> Path:
    """Return the file's path for a recorded command: relative in a clone, absolute in an installed package."""
    clone = Path(__file__).parents[1]
    return file.relative_to(clone) if app_folder() == clone else file


def usual_runs_dir() -> Path:
    """Return the default runs folder: ./runs in a clone, or a folder in the user's data folder."""
    if app_folder() == Path(__file__).parents[1]:
        return Path("runs")
    from platformdirs import user_data_path

    return user_data_path("vpp", appauthor=False) / "runs"


OTHERS = ("VPP_OPTIMIZER_API_KEY", "VPP_HEADERS", "VPP_BROWSER", "VPP_PICTURES")
"""Other variables: `Keys` reads the first two, the tests the others."""


def _check_names(values: Mapping[str, str]) -> None:
    """Refuse a misspelt name: it would leave a rule unset. Raises InputError."""
    known = (*(each.metadata["name"] for each in fields(Environment)), *OTHERS)
    for name in sorted(values):
        if name.startswith("VPP_") and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0)
            raise InputError(f"{name[:80]} is no variable of this app: {near[0]} is the nearest; rename or unset it")
