"""Start `python -m vpp …` in a new process. API keys are passed in its environment only."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vpp import files
from vpp.bench.sweep import SweepDirectory, SweepSpec
from vpp.runs.keys import Keys
from vpp.runs.process import child_environment
from vpp.runs.spec import EndpointSpec


def start_process(arguments: Sequence[str], *, log: Path, keys: Keys, **variables: str) -> subprocess.Popen[bytes]:
    """Start the command in its own session; append its output to `log`."""
    environment = {**os.environ, **variables, **keys.variables()}
    with files.appended(log) as output:
        return subprocess.Popen(
            [sys.executable, "-m", "vpp", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=child_environment(environment),
            start_new_session=True,
        )


def launch(
    directory: SweepDirectory, spec: SweepSpec, *, keys: Keys, environment: Mapping[str, str] | None = None
) -> int:
    """Start or continue the sweep in a detached process; return its id. environment: added to this process's."""
    directory.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    process = start_process([*bench_arguments(directory, spec)], log=directory.log, keys=keys, **(environment or {}))
    threading.Thread(target=process.wait, daemon=True).start()  # reaps the child
    return process.pid


def bench_arguments(directory: SweepDirectory, spec: SweepSpec) -> Iterator[str]:
    """Arguments of `python -m vpp` that run the sweep."""
    yield from ("bench", "-o", str(directory.path), f"--seeds={spec.seeds}")
    yield from (f"--tasks={','.join(spec.tasks)}", f"--methods={','.join(spec.methods)}")
    yield from (f"--train-size={spec.sizes.train}", f"--test-size={spec.sizes.test}", f"--epochs={spec.sizes.epochs}")
    yield from _endpoint_arguments(spec.endpoint)
    if spec.endpoint.prefetch != EndpointSpec().prefetch:
        yield f"--prefetch={spec.endpoint.prefetch}"
    if spec.endpoint.warm_prefix:
        yield "--warm-prefix"


def _endpoint_arguments(endpoint: EndpointSpec) -> Iterator[str]:
    if endpoint.demo:
        yield from ("--demo", f"--demo-latency-ms={endpoint.demo_latency_ms}")
        return
    if endpoint.gguf:
        yield from (f"--gguf={endpoint.gguf}", f"--context-length={endpoint.context_length}")
    else:
        yield from (f"--base-url={endpoint.base_url}", f"--model={endpoint.model}")
    if endpoint.optimizer_base_url:
        yield f"--optimizer-base-url={endpoint.optimizer_base_url}"
    if endpoint.optimizer_model:
        yield f"--optimizer-model={endpoint.optimizer_model}"
    yield from (f"--concurrency={endpoint.concurrency}", f"--timeout={endpoint.timeout_s}")
    yield from (f"--max-wait={endpoint.max_wait_s}", f"--structured={endpoint.structured}")
