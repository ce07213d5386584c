"""The samplers: async generators of events. They know nothing of files, HTTP or screens."""

from collections.abc import AsyncIterator

from vpp.events import Event
from vpp.inference import metropolis_hastings, sequential_monte_carlo, vml
from vpp.inference.population import Population
from vpp.problem import Problem
from vpp.settings import Config

SAMPLERS = {
    "smc": sequential_monte_carlo.sample,
    "mh": metropolis_hastings.sample,
    "vml": vml.sample,
}


def sample(problem: Problem, config: Config, *, resume_from: Population | None = None) -> AsyncIterator[Event]:
    """Every event of the run that `config.method` names, in order, up to the last step's population."""
    return SAMPLERS[config.method](problem, config, resume_from=resume_from)
