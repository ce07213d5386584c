"""The command that runs a sweep, and a detached process with it. API keys are passed in its environment only."""

import os
from collections.abc import Iterator, Mapping

from vpp.bench.sweep import SweepDirectory, SweepSpec
from vpp.runs.keys import Keys
from vpp.runs.process import detached
from vpp.runs.spec import EndpointSpec


def launch(
    directory: SweepDirectory, spec: SweepSpec, *, keys: Keys, environment: Mapping[str, str] | None = None
) -> int:
    """Start or continue the sweep in a detached process; return its id. environment: added to this process's."""
    directory.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    variables = {**os.environ, **(environment or {}), **keys.variables()}
    return detached([*bench_arguments(directory, spec)], directory.log, variables)


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
