"""Serve a GGUF model with llama.cpp as an OpenAI-compatible API on 127.0.0.1.

Runs in the environment of `make models`, which has xllamacpp:
`python server.py MODEL.gguf PORT SLOTS CTX_PER_SLOT ALIAS`. Prints "listening ..." once it accepts requests and serves
until it is terminated. Set OMP_WAIT_POLICY=passive and GOMP_SPINCOUNT=0: spinning threads slow generation more than
tenfold on a machine that does other work.
"""

import os
import signal
import sys

import xllamacpp


def main(model: str, port: str, slots: str, context_per_slot: str, alias: str) -> None:
    """Serve with one thread per core, the context split evenly between the slots."""
    options = xllamacpp.CommonParams()
    options.model.path = model
    options.model_alias = {alias}
    options.hostnames, options.port = ["127.0.0.1"], int(port)
    options.n_parallel, options.n_ctx = int(slots), int(slots) * int(context_per_slot)
    options.cont_batching, options.use_jinja = True, True
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = os.cpu_count() or 1
    options.endpoint_metrics = options.endpoint_slots = True
    server = xllamacpp.Server(options)  # it ends with its last reference
    print("listening", server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
