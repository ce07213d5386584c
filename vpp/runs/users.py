"""Users of a shared app: a folder each, who may enter, which key goes to which server, how much each may do."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from vpp.environment import Environment
from vpp.errors import RunError
from vpp.llm.address import plain_host
from vpp.llm.gate import named
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.session import Keys
from vpp.runs.spec import EndpointSpec

OPENAI = "https://api.openai.com/v1"
"""Whose OPENAI_API_KEY is where no address is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who has logged in, as their provider says."""

    issuer: str
    subject: str
    email: str = ""
    """Empty unless the provider has verified it."""

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> "User":
        """From an identity token's claims. Raises RunError where they tell nobody apart."""
        issuer, subject, email = (claims.get(name) for name in ("iss", "sub", "email"))
        if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
            raise RunError("the login names nobody (no iss and sub): its provider must send an OpenID identity token")
        is_verified = claims.get("email_verified") is True and isinstance(email, str)
        return cls(issuer=issuer, subject=subject, email=str(email).lower() if is_verified else "")

    @property
    def folder(self) -> str:
        """A name that no claim can shape: two users share it only where SHA-256 fails."""
        return f"user-{sha256(json.dumps([self.issuer, self.subject]).encode()).hexdigest()[:24]}"

    def may_enter(self, allowed: Sequence[str], *, providers: int = 1) -> bool:
        """Whether the owner's list names them: by verified e-mail address, its domain (*@domain), or subject.

        Where there are several providers each could give the same subject, so it counts as issuer#subject alone.
        """
        if not allowed:
            return True
        addresses = {name.lower() for name in allowed if "@" in name}
        mine = {self.email, f"*@{self.email.rpartition('@')[2]}"} if self.email else set()
        is_plain = providers < 2 and not {"@", "#"} & set(self.subject)
        subjects = {f"{self.issuer}#{self.subject}", *([self.subject] if is_plain else ())}
        return bool(mine & addresses or subjects & set(allowed))

    def home(self, runs_dir: Path) -> Path:
        """Their folder of runs, made where there is none; it says whose it is."""
        home = runs_dir / self.folder
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not (home / "user.json").is_file():
                told = {"issuer": self.issuer, "subject": self.subject, "email": self.email}
                write_atomically(home / "user.json", json.dumps(told, indent=2).encode())
        except OSError as error:
            raise RunError(f"{home} cannot be made ({error.strerror}): its owner must mend the runs folder") from None
        return home


def origin(url: str) -> str:
    """Scheme, host and port in one spelling: a typed key is for one of these."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{plain_host(parts.hostname or '')}:{port}"


def keys_for(endpoint: EndpointSpec, *, typed: Mapping[str, str], own: Keys, environment: Environment) -> Keys:
    """The keys of an endpoint's servers: those typed for them, else the owner's where a server is the owner's.

    typed: by origin. own: the owner's, from the environment, with the gate.
    """
    if endpoint.demo:
        return Keys(gate=own.gate)  # the demo model costs nobody anything
    if endpoint.gguf:
        return Keys(gate=own.gate, allowance=own.allowance, model_files=own.model_files)
    url = endpoint.base_url
    other = endpoint.optimizer_base_url or url
    home = environment.base_url or OPENAI
    learner = typed.get(origin(url)) or (own.learner if is_at(home, url) else None)
    optimizer = typed.get(origin(other))
    if not optimizer:
        mine = own.optimizer if is_at(environment.optimizer_base_url or home, other) else None
        optimizer = mine or (own.learner if is_at(home, other) else None)
    if origin(other) == origin(url):
        optimizer = optimizer if optimizer != learner else None
    return Keys(learner=learner, optimizer=optimizer, gate=own.gate, allowance=own.allowance)


def is_at(home: str, url: str) -> bool:
    """Whether an address is the owner's, or below it."""
    return bool(url) and named(home).covers(url)


def check_runs(
    directories: Iterable[RunDirectory], *, most: int, but: RunDirectory | None = None, sweeps: int = 0
) -> None:
    """Raises RunError where as many runs go on as one user may have.

    most: 0 for any number. but: not counted. sweeps: those that go on, which count as one run each.
    """
    if not most:
        return
    going = sweeps + sum(one.is_going_on() for one in directories if but is None or one.id != but.id)
    if going >= most:
        runs = "1 run goes on" if going == 1 else f"{going} runs go on"
        raise RunError(f"{runs}, and one user may have {most} at once here: stop one, or wait until it has ended")
