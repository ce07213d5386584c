"""Slots: how many runs of one runs folder may ask models at the same time."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

from vpp.runs.directory import slot_lock

POLL_S = 0.2


class Slots:
    """Lock files in the runs folder; a process that ends, however it ends, gives its slot back."""

    def __init__(self, folder: Path, *, count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._files = [folder / f".slot-{i}" for i in range(count)]
        self._held = ExitStack()
        self._holding = False

    def take_now(self) -> bool:
        """Whether a slot is held now, until `give_back`."""
        if self._holding:
            return True
        for file in self._files:
            with ExitStack() as attempt:
                if attempt.enter_context(slot_lock(file)):
                    self._held.push(attempt.pop_all())
                    self._holding = True
                    return True
        return False

    async def take(self) -> None:
        """Waits for a slot."""
        while not self.take_now():
            await asyncio.sleep(POLL_S)

    def give_back(self) -> None:
        """Lets another run begin."""
        self._held.close()
        self._holding = False
