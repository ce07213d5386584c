"""What is said of a word that was left for a run's worker, until it has obeyed."""

from vpp.runs.directory import Command, State

_STOPPING = "Stopping: the test rows are asked about what is kept. Stop again does without."
_PAUSING = "Pausing: calls in flight finish."


def heard(command: Command, state: State) -> str:
    """What happens, or what the word waits for; empty where nothing is to be said of it."""
    if state == "stalled":
        return "The word is left: the worker is silent, and obeys once it wakes."
    if command == "stop":
        return _STOPPING
    return _PAUSING if command == "pause" and state == "running" else ""
