"""Environment variables: where this machine keeps runs, its endpoint, and what others may do on it."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from vpp.errors import InputError


def usual_runs_dir() -> Path:
    """Return the default runs folder: ./runs in a clone, or a folder in the user's data folder."""
    if app_folder() == Path(__file__).parents[1]:
        return Path("runs")
    from platformdirs import user_data_path

    return user_data_path("vpp", appauthor=False) / "runs"


def _entries(text: str) -> tuple[str, ...]:
    """Read a list separated by commas. Raises ValueError for one without an entry: it would allow everything."""
    entries = tuple(part.strip() for part in text.split(",") if part.strip())
    if not entries:
        raise ValueError("a list of nothing: name one at least, or leave it out")
    return entries


Count = Annotated[int, Ge(1)]
Entries = Annotated[tuple[str, ...], BeforeValidator(_entries)]


def _variable(name: str, default: Any = None, **options: Any) -> Any:
    """Return a field that is read from a variable; default if that is empty or not set."""
    return Field(default, validation_alias=name, **options)


class Environment(BaseModel, frozen=True):
    """Folders for runs and cache, the default endpoint, and what others may do on this machine."""

    runs_dir: Path = Field(default_factory=usual_runs_dir, validation_alias="VPP_RUNS_DIR")
    cache_dir: Path = Field(
        default_factory=lambda values: values["runs_dir"] / ".cache", validation_alias="VPP_CACHE_DIR"
    )
    base_url: str | None = _variable("OPENAI_BASE_URL")
    model: str | None = _variable("VPP_MODEL")
    api_key: str | None = _variable("OPENAI_API_KEY", repr=False)
    max_running: Count = _variable("VPP_MAX_RUNNING", 2)
    optimizer_base_url: str | None = _variable("VPP_OPTIMIZER_BASE_URL")
    """Server of a second model that writes the hypotheses; None: one model for both roles."""
    optimizer_model: str | None = _variable("VPP_OPTIMIZER_MODEL")
    allowed_endpoints: Entries = _variable("VPP_ALLOWED_ENDPOINTS", ())
    """Base URLs; if any are listed, or others reach the app, only these and the owner's own are asked."""
    endpoint_fixed: bool = _variable("VPP_ENDPOINT_FIXED", False)
    """The endpoint and model named here are asked, and no other."""
    demo_only: bool = _variable("VPP_DEMO_ONLY", False)
    """Only the built-in demo model is asked."""
    login: bool = _variable("VPP_LOGIN", False)
    """Nobody sees anything before they have logged in."""
    allowed_users: Entries = _variable("VPP_ALLOWED_USERS", ())
    """Who may, by verified e-mail address, *@domain, or issuer#sub; empty: whoever can log in."""
    shared: bool = _variable("VPP_SHARED", False)
    """Others than the owner are meant to reach the app, also without login."""
    allow_model_files: bool = _variable("VPP_ALLOW_MODEL_FILES", False)
    """Model files of this machine may be used where others reach the app."""
    max_runs_per_user: Count = _variable("VPP_MAX_RUNS_PER_USER", 0)
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
        try:
            environment = cls.model_validate({name: text.strip() for name, text in values.items() if text.strip()})
        except ValidationError as error:
            fault = error.errors()[0]
            name, reason = fault["loc"][0], fault["msg"].removeprefix("Value error, ")
            raise InputError(f"{name} is {str(fault['input'])[:80]!r}: {reason}") from None
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


OTHERS = ("VPP_OPTIMIZER_API_KEY", "VPP_HEADERS", "VPP_BROWSER", "VPP_PICTURES")
"""Other variables: `Keys` reads the first two, the tests the others."""


def _check_names(values: Mapping[str, str]) -> None:
    """Refuse a misspelt name: it would leave a rule unset. Raises InputError."""
    names = (*(str(each.validation_alias) for each in Environment.model_fields.values()), *OTHERS)
    for name in sorted(values):
        if name.startswith("VPP_") and name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0)
            raise InputError(f"{name[:80]} is no variable of this app: {near[0]} is the nearest; rename or unset it")
