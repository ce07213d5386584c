"""What a server takes: memory and processor time, out of /proc."""

import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Taken:
    """At one moment."""

    rss_mb: float
    cpu_s: float
    """User and system, since it began."""


def taken(pid: int) -> Taken:
    """By a process, its threads included."""
    status = Path(f"/proc/{pid}/status").read_text()
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Taken(int(status.split("VmRSS:")[1].split()[0]) / 1024, (int(numbers[11]) + int(numbers[12])) / TICKS)
