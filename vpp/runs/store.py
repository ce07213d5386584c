"""The runs folder: its runs, the shipped examples that are copied into it, and the users of a shared app."""

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from vpp.errors import DiskRefused, RunError
from vpp.runs.directory import RunDirectory, refusal, write_atomically

# Ids and folders of the shipped runs
EXAMPLE, CHAINS_EXAMPLE = "example-penguins", "example-penguins-mh"  # of the demo model: smc, and mh
REAL_EXAMPLE = "example-titanic"  # of a language model
TEXT_EXAMPLE = "example-messages"  # of a language model that weighs a person's hypotheses about texts
PAPER_EXAMPLE = "example-sum-parity"  # of a language model on a task of the paper, in the paper's setting
EXAMPLES = (EXAMPLE, CHAINS_EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE, PAPER_EXAMPLE)


class RunStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def runs(self) -> list[RunDirectory]:
        """Return the runs, newest first."""
        paths = self.folder.iterdir() if self.folder.is_dir() else ()
        runs = [run for run in map(RunDirectory, paths) if run.exists]
        return sorted(runs, key=lambda run: (creation_time(run), _modification_time(run), run.id), reverse=True)

    def get(self, run: str) -> RunDirectory:
        """Return a run by id, which is never a path. Raises RunError if there is none."""
        is_name = run not in ("", ".", "..") and not {"/", "\0"} & set(run)
        if is_name and (directory := RunDirectory(self.folder / run)).exists:
            return directory
        raise RunError(f"no run {run!r} in {self.folder}: pick one of the list")


def creation_time(run: RunDirectory) -> datetime:
    """Return the minute in the run's id, or the time its rows were written; local time."""
    try:
        return datetime.strptime(run.id[:13], "%Y%m%d-%H%M")
    except ValueError:
        return datetime.fromtimestamp(_modification_time(run))


def _modification_time(run: RunDirectory) -> float:
    try:
        return run.data.stat().st_mtime
    except OSError:
        return 0.0


def rename(directory: RunDirectory, name: str) -> None:
    if not name.strip():
        raise RunError("a run needs a name of at least one character")
    directory.amend(name=name.strip())


def delete(directory: RunDirectory) -> None:
    """Delete the run. Raises RunError if a worker holds it, it is no run, or the disk refuses."""
    if not directory.exists:
        raise RunError(f"{directory.path} holds no run: nothing was deleted")
    with directory.lock():
        try:
            (directory.path / "run.json").unlink()  # first, so that nobody sees half a run
        except OSError as error:
            raise DiskRefused(refusal(error, directory.path)) from None
        shutil.rmtree(directory.path, ignore_errors=True)


def unpack(shipped: Path, runs_dir: Path) -> RunDirectory:
    """Copy a shipped run into `runs_dir`, whole or not at all, unless it is there. Raises RunError."""
    target = RunDirectory(runs_dir / shipped.name)
    if target.exists:
        return target
    try:
        runs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=runs_dir) as part:
            shutil.copytree(shipped, Path(part) / shipped.name).rename(target.path)
    except OSError as error:
        if not target.exists:
            raise RunError(
                f"the example cannot be copied to {target.path} ({error.strerror}): choose another runs folder"
            ) from None
    return target


# Users of a shared app


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A logged-in user, as named by their provider."""

    issuer: str
    subject: str
    email: str = ""

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> "User":
        """Read an identity token's claims. Raises RunError if they identify nobody."""
        issuer, subject, email = (claims.get(name) for name in ("iss", "sub", "email"))
        if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
            raise RunError("the login names nobody (no iss and sub): its provider must send an OpenID identity token")
        is_verified = claims.get("email_verified") is True and isinstance(email, str)
        return cls(issuer=issuer, subject=subject, email=str(email).lower() if is_verified else "")

    @property
    def folder(self) -> str:
        """Folder name, a hash, so that no claim can choose a path."""
        return f"user-{sha256(json.dumps([self.issuer, self.subject]).encode()).hexdigest()[:24]}"

    def may_enter(self, allowed: Sequence[str]) -> bool:
        """True if the owner's list names the user: by verified e-mail address, its domain (*@domain) or issuer#sub."""
        addresses = {name.lower() for name in allowed if "@" in name and "#" not in name}
        mine = {self.email, f"*@{self.email.rpartition('@')[2]}"} if self.email else set()
        return not allowed or bool(mine & addresses) or f"{self.issuer}#{self.subject}" in allowed

    def home(self, runs_dir: Path) -> Path:
        """Return the user's folder of runs, created if missing; user.json in it names the user."""
        home = runs_dir / self.folder
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not (home / "user.json").is_file():
                claims = {"issuer": self.issuer, "subject": self.subject, "email": self.email}
                write_atomically(home / "user.json", json.dumps(claims, indent=2).encode())
        except (OSError, DiskRefused):
            raise RunError(f"{home} cannot be made: its owner must fix the runs folder") from None
        return home


def check_runs(
    directories: Iterable[RunDirectory], *, most: int, more: int = 1, but: RunDirectory | None = None
) -> None:
    """Raise RunError if one user would have too many runs. most: 0 for any number. but: a run that is not counted."""
    if not most:
        return
    going = sum(one.is_held() for one in directories if but is None or one.id != but.id)
    if going + more > most:
        runs = "1 run goes on" if going == 1 else f"{going} runs go on"
        new = f"{more} runs are to begin, " if more > 1 else ""
        raise RunError(f"{new}{runs}, and one user may have {most} at once here: stop one, or wait until it has ended")
