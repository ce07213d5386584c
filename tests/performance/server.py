"""Memory and processor time of a process and its threads, from /proc."""

import os
import re
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Megabytes that a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)[0]) / 1024


def cpu_s(pid: int) -> float:
    """User and system seconds since it began."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / TICKS


def rest(pid: int, *, begins_s: float = 12.0, within_s: float = 90.0) -> None:
    """Wait until a server that was visited has imported what later pages need, which it begins after some seconds."""
    time.sleep(begins_s)
    deadline, before = time.monotonic() + within_s, float("-inf")
    while (now := cpu_s(pid)) - before > 0.1:
        assert time.monotonic() < deadline, f"the server does not rest within {within_s:g} s"
        before = now
        time.sleep(1.0)
