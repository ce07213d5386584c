"""Replies of servers that do not speak the chat protocol: web pages, and JSON of other kinds."""

import json
import re

NO_API = "no OpenAI-compatible API at this address"
FIX_ADDRESS = "give the address of a model server, which often ends in /v1"
PAGE_LIMIT = 20_000
"""Bytes of a web page that are searched for its title."""
_TITLE = re.compile(r"<title[^<>]*>([^<]+)", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


def is_web_page(body: bytes) -> bool:
    """Return whether a body is HTML or XML."""
    return body[:1000].lstrip().startswith(b"<")


def page_title(body: bytes) -> bytes:
    """Return a web page's title, or its text if it has none."""
    page = body[:PAGE_LIMIT].decode("utf-8", "replace")
    title = _TITLE.search(page)
    return (title[1] if title else _TAG.sub(" ", page)).encode()


def is_error(body: bytes) -> bool:
    """Return whether a body is an error as servers of the protocol write it."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and ("error" in reply or reply.get("object") == "error")
