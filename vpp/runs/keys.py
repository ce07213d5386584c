"""API keys, and which of them goes to which address; users of a shared app, and how many runs each may have."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from vpp.environment import Environment
from vpp.errors import DiskRefused, RunError
from vpp.llm.gate import Gate, Headers, exact, headers_of
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import write_atomically
from vpp.runs.spec import EndpointSpec

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """API keys by role and headers, never written to disk, and the servers and model files that may be used."""

    learner: str | None = None
    optimizer: str | None = None
    headers: Headers = ()
    """Sent to the learner's server with every request."""
    gate: Gate = Gate()
    model_files: bool = False

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Keys":
        """Read OPENAI_API_KEY, VPP_OPTIMIZER_API_KEY, VPP_HEADERS and the owner's limits."""
        owners = Environment.of(environment)
        return cls(
            learner=environment.get("OPENAI_API_KEY") or None,
            optimizer=environment.get("VPP_OPTIMIZER_API_KEY") or None,
            headers=headers_of(environment.get("VPP_HEADERS", "")),
            gate=Gate.of(owners),
            model_files=owners.may_use_model_files,
        )

    def variables(self) -> dict[str, str]:
        """Return the variables that give a process these keys, and no others from this environment."""
        variables = {
            "OPENAI_API_KEY": self.learner or "",
            "VPP_OPTIMIZER_API_KEY": self.optimizer or "",
            "VPP_HEADERS": "\n".join(map("=".join, self.headers)),
        }
        return variables if self.gate.servers is None else {**variables, "VPP_SHARED": "1"}

    def __repr__(self) -> str:
        return "Keys(…)"


def keys_for(endpoint: EndpointSpec, *, typed: Mapping[str, str], own: Keys, environment: Environment) -> Keys:
    """Return the keys for an endpoint's addresses: those typed with them, else the owner's for the owner's addresses.

    typed: by `exact` address. own: the owner's, from the environment, with the gate.
    """
    if endpoint.is_started_here:
        return replace(own, learner=None, optimizer=None, headers=())
    home = exact(environment.base_url or OPENAI)
    keys = {address: key for address, key in typed.items() if key}
    learners = {home: own.learner, **keys}
    second = {exact(environment.optimizer_base_url or home): own.optimizer} if own.optimizer else {}
    optimizers = {home: own.learner, **second, **keys}
    return replace(
        own,
        learner=learners.get(exact(endpoint.base_url)),
        headers=own.headers if exact(endpoint.base_url) == home else (),
        optimizer=optimizers.get(exact(endpoint.optimizer_base_url or endpoint.base_url)),
    )


# Users of a shared app


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A logged-in user, as named by their provider."""

    issuer: str
    subject: str
    email: str = ""

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> "User":
        """Read an identity token's claims. Raises RunError if they identify nobody."""
        issuer, subject, email = (claims.get(name) for name in ("iss", "sub", "email"))
        if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
            raise RunError("the login names nobody (no iss and sub): its provider must send an OpenID identity token")
        is_verified = claims.get("email_verified") is True and isinstance(email, str)
        return cls(issuer=issuer, subject=subject, email=str(email).lower() if is_verified else "")

    @property
    def folder(self) -> str:
        """Folder name, a hash, so that no claim can choose a path."""
        return f"user-{sha256(json.dumps([self.issuer, self.subject]).encode()).hexdigest()[:24]}"

    def may_enter(self, allowed: Sequence[str], *, providers: int = 1) -> bool:
        """True if the owner's list names the user: by verified e-mail address, its domain (*@domain), or subject.

        Several providers could issue the same subject, so it then counts only as issuer#subject.
        """
        if not allowed:
            return True
        addresses = {name.lower() for name in allowed if "@" in name}
        mine = {self.email, f"*@{self.email.rpartition('@')[2]}"} if self.email else set()
        is_plain = providers < 2 and not {"@", "#"} & set(self.subject)
        subjects = {f"{self.issuer}#{self.subject}", *([self.subject] if is_plain else ())}
        return bool(mine & addresses or subjects & set(allowed))

    def home(self, runs_dir: Path) -> Path:
        """Return the user's folder of runs, created if missing; user.json in it names the user."""
        home = runs_dir / self.folder
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not (home / "user.json").is_file():
                claims = {"issuer": self.issuer, "subject": self.subject, "email": self.email}
                write_atomically(home / "user.json", json.dumps(claims, indent=2).encode())
        except (OSError, DiskRefused):
            raise RunError(f"{home} cannot be made: its owner must fix the runs folder") from None
        return home


def check_runs(
    directories: Iterable[RunDirectory], *, most: int, more: int = 1, but: RunDirectory | None = None
) -> None:
    """Raise RunError if the user would have more running runs than allowed.

    most: 0 for any number. more: runs about to begin. but: not counted.
    """
    if not most:
        return
    going = sum(one.is_held() for one in directories if but is None or one.id != but.id)
    if going + more > most:
        runs = "1 run goes on" if going == 1 else f"{going} runs go on"
        new = f"{more} runs are to begin, " if more > 1 else ""
        raise RunError(f"{new}{runs}, and one user may have {most} at once here: stop one, or wait until it has ended")
