"""A hypothesis is a text; its identity is the first 12 hex digits of the text's SHA-256."""

import hashlib


def hypothesis_id(text: str) -> str:
    """Return the id under which `text` is stored once and referred to everywhere else."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
