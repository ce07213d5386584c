"""Environment variables: where this machine keeps runs, its endpoint, and what others may do on it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from vpp.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Folders for runs and cache, the default endpoint, and what others may do on this machine."""

    runs_dir: Path
    cache_dir: Path
    base_url: str | None
    model: str | None
    api_key: str | None = field(repr=False)
    max_running: int
    optimizer_base_url: str | None = None
    """Server of a second model that writes the hypotheses; None: one model for both roles."""
    optimizer_model: str | None = None
    allowed_endpoints: tuple[str, ...] = ()
    """VPP_ALLOWED_ENDPOINTS: only these are asked; empty: any that the gate lets through."""
    endpoint_fixed: bool = False
    """VPP_ENDPOINT_FIXED: the endpoint and model named here are asked, and no other."""
    login: bool = False
    """VPP_LOGIN: nobody sees anything before they have logged in."""
    allowed_users: tuple[str, ...] = ()
    """VPP_ALLOWED_USERS: who may, by verified e-mail address, *@domain, or subject; empty: whoever can log in."""
    shared: bool = False
    """VPP_SHARED: others than the owner are meant to reach the app, also without login."""
    allow_model_files: bool = False
    """VPP_ALLOW_MODEL_FILES: model files of this machine may be used where others reach the app."""
    max_runs_per_user: int = 0
    """Runs of one user that go on at once; 0: no cap."""
    max_calls_per_user: int = 0
    """Calls that one user sends in a day (UTC); 0: no cap."""

    @property
    def is_shared(self) -> bool:
        """True if others than the owner can reach the app, as far as variables say."""
        return self.shared or self.login or self.endpoint_fixed or bool(self.allowed_endpoints)

    @property
    def may_use_model_files(self) -> bool:
        """True if runs may start a server for a model file of this machine."""
        return self.allow_model_files or not self.is_shared

    @classmethod
    def read(cls, dotenv: Mapping[str, str] | None = None) -> "Environment":
        """Read the process's environment, then `dotenv`, then defaults. Raises InputError."""
        return cls.of({**(dotenv or {}), **os.environ})

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Environment":
        """Read variables. Raises InputError."""
        _check_names(values)
        runs_dir = Path(values.get("VPP_RUNS_DIR") or "runs")
        environment = cls(
            runs_dir=runs_dir,
            cache_dir=Path(values.get("VPP_CACHE_DIR") or runs_dir / ".cache"),
            base_url=values.get("OPENAI_BASE_URL") or None,
            model=values.get("VPP_MODEL") or None,
            api_key=values.get("OPENAI_API_KEY") or None,
            max_running=_whole(values, "VPP_MAX_RUNNING", default=2),
            optimizer_base_url=values.get("VPP_OPTIMIZER_BASE_URL") or None,
            optimizer_model=values.get("VPP_OPTIMIZER_MODEL") or None,
            allowed_endpoints=_listed(values, "VPP_ALLOWED_ENDPOINTS"),
            endpoint_fixed=_switch(values, "VPP_ENDPOINT_FIXED"),
            login=_switch(values, "VPP_LOGIN"),
            allowed_users=_listed(values, "VPP_ALLOWED_USERS"),
            shared=_switch(values, "VPP_SHARED"),
            allow_model_files=_switch(values, "VPP_ALLOW_MODEL_FILES"),
            max_runs_per_user=_whole(values, "VPP_MAX_RUNS_PER_USER", default=0),
            max_calls_per_user=_whole(values, "VPP_MAX_CALLS_PER_USER", default=0),
        )
        if environment.endpoint_fixed and not (environment.base_url and environment.model):
            raise InputError("VPP_ENDPOINT_FIXED is on, and no endpoint is named: set OPENAI_BASE_URL and VPP_MODEL")
        if environment.allowed_users and not environment.login:
            raise InputError("VPP_ALLOWED_USERS is set, and nobody is asked to log in: set VPP_LOGIN=1 too")
        return environment


NAMES = (
    "VPP_RUNS_DIR",
    "VPP_CACHE_DIR",
    "VPP_CALLS_FILE",
    "VPP_MODEL",
    "VPP_MAX_RUNNING",
    "VPP_OPTIMIZER_BASE_URL",
    "VPP_OPTIMIZER_MODEL",
    "VPP_OPTIMIZER_API_KEY",
    "VPP_ALLOWED_ENDPOINTS",
    "VPP_ENDPOINT_FIXED",
    "VPP_LOGIN",
    "VPP_ALLOWED_USERS",
    "VPP_SHARED",
    "VPP_ALLOW_MODEL_FILES",
    "VPP_MAX_RUNS_PER_USER",
    "VPP_MAX_CALLS_PER_USER",
    "VPP_BROWSER",
    "VPP_PICTURES",
)
"""Every variable that begins with VPP_; the tests read the last two."""


def _check_names(values: Mapping[str, str]) -> None:
    """Refuse a misspelt name: it would leave a rule unset. Raises InputError."""
    for name in sorted(values):
        if name.startswith("VPP_") and name not in NAMES:
            near = get_close_matches(name, NAMES, n=1, cutoff=0)
            raise InputError(f"{name[:80]} is no variable of this app: {near[0]} is the nearest; rename or unset it")


def _whole(values: Mapping[str, str], name: str, *, default: int) -> int:
    """Read a whole number of at least 1. Raises InputError."""
    text = values.get(name) or ""
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{name} is {text!r}: it must be a whole number of at least 1")
    return int(text)


def _switch(values: Mapping[str, str], name: str) -> bool:
    """Read a clear yes or no: who may do what is never guessed. Raises InputError."""
    text = (values.get(name) or "").strip().lower()
    if text not in ("", "0", "1", "false", "true", "no", "yes", "off", "on"):
        raise InputError(f"{name} is {text[:80]!r}: write 1 or 0")
    return text in ("1", "true", "yes", "on")


def _listed(values: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Read a list separated by commas. Raises InputError for one without an entry: it would allow everything."""
    text = values.get(name) or ""
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if text and not parts:
        raise InputError(f"{name} is {text!r}, a list of nothing: name one at least, or leave it out")
    return parts
