"""What a target promises beside not to raise."""


class Broken(AssertionError):
    """A promise that was not kept."""


def promise(is_kept: object, what: str) -> None:
    """Raises Broken, naming what came instead, unless it is kept."""
    if not is_kept:
        raise Broken(what)
