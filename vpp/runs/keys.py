"""API keys, and which of them goes to which address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from vpp.environment import Environment
from vpp.llm.gate import Gate, Headers, exact, headers_of
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
