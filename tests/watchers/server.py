"""Memory, processor time, threads and open files of a process, from /proc."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A process at one moment, its threads included."""

    rss_mb: float = 0.0
    peak_mb: float = 0.0
    cpu_s: float = 0.0
    """User and system, since it began."""
    threads: int = 0
    handles: int = 0


def taken(pid: int) -> Taken:
    """Read what a process takes now. Raises OSError if it is gone."""
    folder = Path(f"/proc/{pid}")
    status = dict(re.findall(r"^(\w+):\s+(\d+)", (folder / "status").read_text(), re.MULTILINE))
    numbers = (folder / "stat").read_text().rpartition(")")[2].split()
    return Taken(
        rss_mb=int(status.get("VmRSS", 0)) / 1024,
        peak_mb=int(status.get("VmHWM", 0)) / 1024,
        cpu_s=(int(numbers[11]) + int(numbers[12])) / TICKS,
        threads=int(status["Threads"]),
        handles=len(os.listdir(folder / "fd")),
    )
