"""The fuzz campaign: `make fuzz`, or `python -m tests.fuzz [TARGET…]`; the targets share FUZZ_SECONDS.

Two targets run at a time, each until its time is up or an input raises, takes too long or too much memory. Such inputs
are left in build/fuzz/findings, and the exit code is 1. build/fuzz/corpus keeps the inputs that reach new code.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.journals import IN_MEMORY
from tests.fuzz.targets import BY_NAME, TARGETS, Target

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
AT_A_TIME = 2
MOST_S = 10
"""Seconds that one input may take; instruments slow the code down about tenfold."""
MOST_MB = 1_000
"""Memory of the process, instruments included."""


def main(names: Sequence[str]) -> int:
    """Run the targets and return the exit code."""
    chosen = [BY_NAME[name] for name in names] or list(TARGETS)
    total = float(os.environ.get("FUZZ_SECONDS") or 3600)
    unit = total * min(AT_A_TIME, len(chosen)) / sum(target.share for target in chosen)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        codes = list(pool.map(lambda target: hunt(target, seconds=max(5, round(unit * target.share))), chosen))
    return 1 if any(codes) else 0


def hunt(target: Target, *, seconds: int) -> int:
    """Run libFuzzer on a target and return its exit code."""
    corpus, findings = BUILD / "corpus" / target.name, BUILD / "findings" / target.name
    for place in (corpus, findings):
        place.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds():
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    options = [
        f"-max_total_time={seconds}", f"-max_len={target.longest}", f"-timeout={MOST_S}", "-seed=1",
        f"-rss_limit_mb={MOST_MB}", f"-artifact_prefix={findings}/",
    ]  # fmt: skip
    command = ["nice", "-n", "19", sys.executable, "-m", "tests.fuzz.hunt", target.name, *options, str(corpus)]
    with (findings / "log").open("wb") as log, TemporaryDirectory(prefix="vpp-fuzz-", dir=IN_MEMORY) as folder:
        env = {**os.environ, "FUZZ_FOLDER": folder}
        code = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, env=env, check=False).returncode
    print(f"{target.name}: " + (f"a fault: see {findings}" if code else f"no fault in {seconds} s"), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
