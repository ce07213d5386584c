"""Atheris on one target, in a process of its own: `python -m tests.fuzz.hunt TARGET SECONDS CORPUS FINDINGS`.

What it finds it writes down and goes on, one input for each place in the code; an input that hangs ends it. The last
line it prints is a JSON object of what it did. Atheris instruments the Python code of vpp; pydantic's and pyarrow's
compiled code it cannot see into.
"""

import hashlib
import json
import os
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["vpp"]):
    from tests.fuzz.targets import BY_NAME, Target

HANGS_S = 120
SUSPECT_S = 0.5
"""Processor time of an input here that is worth measuring without instruments."""
SUSPECT_MB = 50
"""Growth of the process's peak memory by one input that is."""


def main(name: str, seconds: str, corpus: str, findings: str) -> None:
    """Never returns: libFuzzer ends the process."""
    warnings.simplefilter("error")
    hunter = Hunter(BY_NAME[name], Path(findings))
    for seed in BY_NAME[name].seeds():
        (Path(corpus) / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    arguments = [
        "hunt", f"-max_total_time={seconds}", f"-max_len={BY_NAME[name].longest}", f"-timeout={HANGS_S}",
        f"-artifact_prefix={findings}/", "-rss_limit_mb=2000", "-malloc_limit_mb=1000", "-seed=1", corpus,
    ]  # fmt: skip
    atheris.Setup(arguments, hunter.one)
    atheris.Fuzz()


class Hunter:
    """Runs inputs and keeps count."""

    def __init__(self, target: Target, findings: Path) -> None:
        self._target = target
        self._findings = findings
        self._seen: set[str] = set()
        self._n = 0
        self._slowest = (0.0, b"")
        self._peak = _peak_mb()
        self._told_at = 0.0

    def one(self, data: bytes) -> None:
        """One input."""
        began = time.process_time()
        try:
            self._target.check(data)
        except Exception as error:
            self._keep("raised", _place(error), data)
        self._measure(time.process_time() - began, data)

    def _measure(self, took_s: float, data: bytes) -> None:
        self._n += 1
        if took_s > self._slowest[0]:
            self._slowest = (took_s, data)
        if took_s > SUSPECT_S:
            self._keep("slow", f"{self._target.name}-{took_s:.0f}-{len(self._seen) % 20}", data)
        peak = _peak_mb()
        if peak > self._peak + SUSPECT_MB:
            self._peak = peak
            self._keep("large", f"{peak:.0f}", data)
        if time.monotonic() - self._told_at > 1.0:
            self._told_at = time.monotonic()
            self._tell()

    def _tell(self) -> None:
        """How far it is, as a file: libFuzzer ends the process without a word to Python."""
        told: dict[str, Any] = {"executions": self._n, "slowest_s": self._slowest[0], "peak_mb": _peak_mb()}
        part = self._findings / ".state.part"
        part.write_text(json.dumps(told))
        part.replace(self._findings / "state.json")
        (self._findings / "slowest").write_bytes(self._slowest[1])

    def _keep(self, kind: str, place: str, data: bytes) -> None:
        """One input a kind and place; the shortest of them."""
        path = self._findings / f"{kind}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
        if place not in self._seen or len(data) < path.stat().st_size:
            self._seen.add(place)
            path.write_bytes(data)


def _place(error: BaseException) -> str:
    """The kind of error, and the last lines of this product that it came through."""
    frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    own = [frame for frame in frames if f"{os.sep}vpp{os.sep}" in frame or f"{os.sep}fuzz{os.sep}" in frame]
    return f"{type(error).__name__} {own[-1] if own else frames[-1:]}"


def _peak_mb() -> float:
    peak: float = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
