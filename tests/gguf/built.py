"""GGUF files made for tests, and a stand-in for xllamacpp that serves the demo model from them."""

import struct
from collections.abc import Mapping
from pathlib import Path

U32, FLOAT, STRING, ARRAY, U64 = 4, 6, 8, 9, 10
MODEL: dict[str, tuple[int, object]] = {
    "general.architecture": (STRING, "llama"),
    "llama.context_length": (U32, 8192),
    "llama.block_count": (U32, 30),
    "llama.embedding_length": (U32, 576),
    "llama.attention.head_count": (U32, 9),
    "llama.attention.head_count_kv": (U32, 3),
}
"""Header values of SmolLM2-135M."""


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def entry(name: str, kind: int, value: object) -> bytes:
    head = string(name) + struct.pack("<I", kind)
    match value:
        case str():
            return head + string(value)
        case bytes():
            return head + value
        case int():
            return head + struct.pack("<I", value)
    raise AssertionError(value)


def numbers(values: list[int]) -> bytes:
    """An array of 32-bit numbers."""
    return struct.pack("<IQ", U32, len(values)) + struct.pack(f"<{len(values)}I", *values)


def gguf(entries: Mapping[str, tuple[int, object]] = MODEL, *, version: int = 3, offset: int = 0) -> bytes:
    """A GGUF file that declares a tensor of 64 x 100 numbers at `offset` and holds 64 bytes of it."""
    head = b"GGUF" + struct.pack("<IQQ", version, 1, len(entries))
    middle = b"".join(entry(name, kind, value) for name, (kind, value) in entries.items())
    tensor = string("token_embd.weight") + struct.pack("<IQQIQ", 2, 64, 100, 0, offset)
    return head + middle + tensor + bytes(64)


STAND_IN = '''
"""Stands in for xllamacpp: serves the demo model, or fails as llama.cpp does."""

import os, sys, threading, time
from pathlib import Path
from types import SimpleNamespace

import uvicorn
from vpp.demo.server import DemoServer, Options, listen


class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = SimpleNamespace(), SimpleNamespace(), SimpleNamespace()


class Server:
    def __init__(self, options):
        here = Path(__file__).parent
        (here / "environment").write_text("\\n".join(os.environ))
        (here / "key").write_text(options.api_keys[0])
        with (here / "loads").open("a") as file:
            file.write(f"{os.getpid()}\\n")
        while (here / "hold").exists():
            time.sleep(0.02)
        if b"refused" in Path(options.model.path).read_bytes():
            print("0.00.031.607 E llama_model_load: error loading model: tensor 'blk.2' is corrupted", file=sys.stderr)
            raise RuntimeError("Failed to init server, please check the input params.")
        listener = listen(options.hostnames[0], options.port)
        config = uvicorn.Config(DemoServer(Options(latency_ms=5)), log_level="warning", lifespan="off", ws="none")
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
    def loads(self) -> list[int]:
        """Process ids of the servers that loaded a model, in order."""
        file = self.folder / "loads"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def hold(self) -> None:
        """Keeps servers from being ready."""
        (self.folder / "hold").touch()

    def go_on(self) -> None:
        """Lets them be ready."""
        (self.folder / "hold").unlink()


def model_file(folder: Path, name: str = "demo.gguf", content: bytes = b"") -> Path:
    """A model file whose name is that of the demo model."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(gguf() + content)
    return path
