"""Serve a GGUF model with llama.cpp as an OpenAI-compatible API on 127.0.0.1.

Runs in the environment of `make models`, which has xllamacpp:
`python server.py MODEL.gguf PORT SLOTS CTX_PER_SLOT ALIAS`. Prints "listening ..." once it accepts requests and serves
until it is terminated. Set OMP_WAIT_POLICY=passive and GOMP_SPINCOUNT=0: spinning threads slow generation more than
tenfold on a machine that does other work.
"""

import os
import signal
import sys
from typing import Any


def parameters(model: str, *, port: int, slots: int, context_per_slot: int, alias: str) -> Any:
    """Return llama.cpp's settings: one thread per core, the context split evenly between the slots."""
    import xllamacpp

    given = xllamacpp.CommonParams()
    given.model.path = model
    given.model_alias = {alias}
    given.hostnames, given.port = ["127.0.0.1"], port
    given.n_parallel, given.n_ctx = slots, slots * context_per_slot
    given.cont_batching, given.use_jinja = True, True
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = int(os.environ.get("THREADS") or os.cpu_count() or 1)
    given.endpoint_metrics = given.endpoint_slots = True
    return given


def main() -> None:
    """Serve the model named on the command line."""
    import xllamacpp

    model, port, slots, context_per_slot, alias = sys.argv[1:]
    server = xllamacpp.Server(
        parameters(model, port=int(port), slots=int(slots), context_per_slot=int(context_per_slot), alias=alias)
    )
    print("listening", server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
