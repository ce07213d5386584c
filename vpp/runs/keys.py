"""API keys: how a process gets them, and which of them goes to which server."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from vpp.environment import Environment
from vpp.llm.address import plain_host
from vpp.llm.budget import Allowance
from vpp.llm.gate import Gate, named
from vpp.runs.spec import EndpointSpec

MODEL_FILES = "model-servers"
"""Folder in the cache folder where runs on one model file find their server."""
OPENAI = "https://api.openai.com/v1"
"""Server of OPENAI_API_KEY if no address is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """API keys by role, never written to disk, and the servers and model files that may be used."""

    learner: str | None = None
    optimizer: str | None = None
    gate: Gate = Gate()
    allowance: Allowance | None = None
    """Daily calls of the user of a shared app."""
    model_files: Path | None = None
    """Folder of the servers of model files; None if model files may not be used."""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Keys":
        """Read OPENAI_API_KEY, VPP_OPTIMIZER_API_KEY and the owner's limits."""
        owners = Environment.of(environment)
        return cls(
            learner=environment.get("OPENAI_API_KEY") or None,
            optimizer=environment.get("VPP_OPTIMIZER_API_KEY") or None,
            gate=Gate.of(owners),
            allowance=_allowance(environment, owners),
            model_files=owners.cache_dir / MODEL_FILES if owners.may_use_model_files else None,
        )

    def variables(self) -> dict[str, str]:
        """Return the variables that give a process these keys, and no others from this environment."""
        variables = {"OPENAI_API_KEY": self.learner or "", "VPP_OPTIMIZER_API_KEY": self.optimizer or ""}
        variables["VPP_CALLS_FILE"] = str(self.allowance.file) if self.allowance else ""
        return {**variables, "VPP_SHARED": "1"} if self.gate.is_shared else variables

    def __repr__(self) -> str:
        return "Keys(…)"


def _allowance(environment: Mapping[str, str], owners: Environment) -> Allowance | None:
    """Return the allowance of the user for whom the app started this process; a terminal has none."""
    file, per_day = environment.get("VPP_CALLS_FILE"), owners.max_calls_per_user
    return Allowance(file=Path(file), per_day=per_day) if file and per_day else None


def origin(url: str) -> str:
    """Return scheme, host and port in one spelling; a typed key belongs to one origin."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{plain_host(parts.hostname or '')}:{port}"


def keys_for(endpoint: EndpointSpec, *, typed: Mapping[str, str], own: Keys, environment: Environment) -> Keys:
    """Return the keys of an endpoint's servers: those typed for them, else the owner's for the owner's servers.

    typed: by origin. own: the owner's, from the environment, with the gate.
    """
    if endpoint.demo:
        return Keys(gate=own.gate, allowance=own.allowance if environment.demo_only else None)  # else it costs nothing
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
    """True if an address is the owner's, or below it."""
    return bool(url) and named(home).covers(url)
