"""Moments that can be told apart though the clock is set: Unix time, and how long the machine has been up."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something was left for another process."""

    at: float
    """Unix time in seconds."""
    up: float = 0.0
    """Seconds of the machine's own count, which nobody sets."""
    boot: str = ""
    """Since which start of the machine it counts; empty where that is not known."""

    @classmethod
    def now(cls) -> "Moment":
        """This one."""
        return cls(at=time.time(), up=time.monotonic(), boot=_boot())

    def after(self, earlier: "Moment") -> float:
        """Seconds since `earlier`: by the machine's own count where both are of one, else by their clocks."""
        return self.up - earlier.up if self.boot and self.boot == earlier.boot else self.at - earlier.at


@cache
def _boot() -> str:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def steady_clock() -> Callable[[], float]:
    """Unix time as of now, which then goes on evenly though the clock is set: for what is measured from it."""
    began, up = time.time(), _uptime()
    return lambda: began + _uptime() - up


def _uptime() -> float:
    """Seconds, those that the machine slept included where the system counts them."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)
