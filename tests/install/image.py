"""Run a Dockerfile's commands one by one, as their users, in an empty Debian, without a container engine.

The official image python:3.13-slim is Debian trixie too; here Python 3.13 is Debian's own. Needs root and debootstrap.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SUITE, PYTHON = "trixie", "python:3.13-slim"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PACKAGES = "python3,python3-venv,ca-certificates"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""This machine's certificates: its network may use its own authority."""
COMMANDS = ("FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")


def can_build() -> bool:
    """Return whether this machine can make an empty root and enter it."""
    return os.geteuid() == 0 and shutil.which("debootstrap") is not None


def empty_debian(folder: Path) -> Path:
    """Make an empty Debian whose `python` is its own Python 3.13."""
    words = ("debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, folder)
    subprocess.run([*map(str, words)], check=True, capture_output=True)
    (folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    shutil.copy(CERTIFICATES, folder / str(CERTIFICATES).lstrip("/"))
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    return folder


@dataclass
class Image:
    """A build stage: its files, and the settings of its commands."""

    root: Path
    variables: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "HOME": "/root"})
    user: str = "0"
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def words(self, command: Sequence[str]) -> list[str]:
        """Return the words that run a command in the image."""
        settings = [f"{name}={value}" for name, value in self.variables.items()]
        enter = ["chroot", f"--userspec={self.user}:{self.user}", str(self.root), "env", "-i", *settings]
        return [*enter, "sh", "-c", f"cd {self.folder} && exec {shlex.join(command)}"]

    def run(self, *command: str, **variables: str) -> str:
        """Run a command to its end."""
        words = self.words(["env", *(f"{name}={value}" for name, value in variables.items()), *command])
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def instructions(dockerfile: Path) -> Iterator[tuple[str, str]]:
    """Yield (instruction, rest) of a Dockerfile. Raises ValueError for one that is not known here."""
    text = "\n".join(line for line in dockerfile.read_text("utf-8").splitlines() if not line.startswith("#"))
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            if name not in COMMANDS:
                raise ValueError(f"{dockerfile}: instruction {name} is not supported: add it to tests/install/image.py")
            yield name, rest.strip()


def built(dockerfile: Path, context: Path, debian: Path, folder: Path) -> Image:
    """Build a Dockerfile's last stage. debian: an empty one, which is copied. folder: a new one, for the stages."""
    folder.mkdir()
    stages: dict[str, Image] = {}
    image = Image(root=debian)
    for name, rest in instructions(dockerfile):
        if name == "FROM":
            base, *named = rest.split(" AS ")
            if base != PYTHON:
                raise ValueError(f"{dockerfile}: base image {base} is not supported: use {PYTHON}")
            image = Image(root=folder / str(len(stages)))
            subprocess.run(("cp", "-a", str(debian), str(image.root)), check=True)
            stages[named[0] if named else str(len(stages))] = image
        else:
            _apply(image, name, rest, context, stages)
    return image


def _apply(image: Image, name: str, rest: str, context: Path, stages: dict[str, Image]) -> None:
    match name:
        case "RUN":
            image.run("sh", "-c", rest, **_pip())
        case "COPY":
            _copy(image, rest.split(), context, stages)
        case "WORKDIR":
            image.folder = rest
            (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "ENV":
            for word in shlex.split(rest):
                key, _, value = word.partition("=")
                image.variables[key] = value.replace("$PATH", image.variables["PATH"])
        case "USER":
            image.user = rest
            (home,) = (each for each in (image.root / "home").iterdir() if each.stat().st_uid == int(rest))
            image.variables["HOME"] = f"/home/{home.name}"
        case "HEALTHCHECK":
            image.health = json.loads(rest.partition("CMD")[2])
        case "ENTRYPOINT":
            image.entrypoint = json.loads(rest)
        case "CMD":
            image.command = json.loads(rest)


def _copy(image: Image, words: list[str], context: Path, stages: dict[str, Image]) -> None:
    """Copy like COPY: a folder's contents, not the folder.

    Raises ValueError for a source that is missing or that .dockerignore excludes.
    """
    *sources, target = words
    origin = context
    if sources[0].startswith("--from="):
        origin = stages[sources.pop(0).removeprefix("--from=")].root
    into = image.root / Path(image.folder, target).relative_to("/")
    for pattern in sources:
        found = list(origin.glob(pattern.lstrip("/")))
        if not found or (origin is context and not _is_sent(pattern, context)):
            raise ValueError(f"COPY {pattern}: no such file in the build context: check the path and .dockerignore")
        for source in found:
            into.mkdir(parents=True, exist_ok=True)
            subprocess.run(("cp", "-a", f"{source}/." if source.is_dir() else str(source), str(into)), check=True)


def _is_sent(pattern: str, context: Path) -> bool:
    """Return whether .dockerignore admits a path; True without that file."""
    rules = context / ".dockerignore"
    if not rules.exists():
        return True
    kept = [line[1:] for line in rules.read_text("utf-8").splitlines() if line.startswith("!")]
    return any(each == pattern or each.startswith(f"{pattern}/") or pattern.startswith(f"{each}/") for each in kept)


def _pip() -> dict[str, str]:
    """Return the pip settings needed inside the image."""
    return {"PIP_CERT": str(CERTIFICATES), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
