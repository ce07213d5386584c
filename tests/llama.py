"""A stand-in for xllamacpp that serves the demo model, and model files for it."""

from pathlib import Path

STAND_IN = '''
"""Stands in for xllamacpp: serves the demo model, or fails as llama.cpp does."""

import os, socket, sys, threading, time
from pathlib import Path
from types import SimpleNamespace

import uvicorn
from vpp.demo.server import application


class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = SimpleNamespace(), SimpleNamespace(), SimpleNamespace()


class Server:
    def __init__(self, options):
        print("llama.cpp writes here too")
        here = Path(__file__).parent
        (here / "environment").write_text("\\n".join(os.environ))
        (here / "key").write_text(options.api_keys[0])
        with (here / "loads").open("a") as file:
            file.write(f"{os.getpid()} {options.n_parallel} {options.n_ctx}\\n")
        while (here / "hold").exists():
            time.sleep(0.02)
        if b"refused" in Path(options.model.path).read_bytes():
            print("0.00.031.607 E llama_model_load: error loading model: tensor 'blk.2' is corrupted", file=sys.stderr)
            raise RuntimeError("Failed to init server, please check the input params.")
        listener = socket.create_server((options.hostnames[0], options.port))
        config = uvicorn.Config(application(latency_ms=5), log_level="warning", lifespan="off", ws="none")
        threading.Thread(target=uvicorn.Server(config).run, args=([listener],), daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{listener.getsockname()[1]}"
'''


class StandIn:
    """The stand-in in a folder that goes on PYTHONPATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        about = folder / "xllamacpp-0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: xllamacpp\nVersion: 0\n")
        (folder / "xllamacpp.py").write_text(STAND_IN)

    @property
    def loads(self) -> list[tuple[int, int, int]]:
        """Process id, slots and tokens of the servers that loaded a model, in order."""
        file = self.folder / "loads"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(int(pid), int(slots), int(tokens)) for pid, slots, tokens in map(str.split, lines)]

    def hold(self) -> None:
        (self.folder / "hold").touch()


def model_file(folder: Path, name: str = "demo.gguf", content: bytes = b"") -> Path:
    """A model file whose name is that of the demo model."""
    path = folder / name
    path.write_bytes(b"GGUF" + content)
    return path
