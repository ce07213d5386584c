"""Uploads at the door: from whom they are taken, and how much one browser session may hold in the server's memory."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.server_util import AUTH_COOKIE_NAME
from streamlit.web.server.starlette import starlette_websocket as signed

from pages.parts import person
from vpp.errors import VppError

FILES = 4
"""Of the largest size, that one session may hold."""
_PATH = re.compile(r"/_stcore/upload_file/([^/]+)/")
_underway: Counter[str] = Counter()


def session_of(path: str) -> str | None:
    """The session whose upload lies at the path; None where none does."""
    found = _PATH.search(path)
    return found[1] if found else None


def is_from_user(headers: Headers) -> bool:
    """Whether uploads are taken: from anybody where no login is asked for, else with the cookie of who may enter."""
    try:
        if not person.environment().login:
            return True
        cookies = cookie_parser(headers.get("cookie", ""))
        return person.user_of(_claims(cookies, headers.get("origin", ""))) is not None
    except VppError:
        return False


def _claims(cookies: dict[str, str], origin: str) -> Mapping[str, object]:
    """Of a cookie that this server has signed, for pages of this origin; empty where there is none."""
    text = signed._get_signed_cookie_with_chunks(cookies, AUTH_COOKIE_NAME)
    return signed._parse_decoded_user_cookie(text, origin) if text else {}


def size(headers: Headers) -> int:
    """Bytes that a request brings at most."""
    told = headers.get("content-length", "")
    is_told = re.fullmatch("[0-9]{1,15}", told) and "transfer-encoding" not in headers
    return int(told) if is_told else largest()


def largest() -> int:
    """Bytes of the largest file."""
    return int(config.get_option("server.maxUploadSize")) * 2**20


def has_room(session: str, wanted: int) -> bool:
    """Whether the session may hold so many bytes more; what is on its way counts."""
    return _held(session) + _underway[session] + wanted <= FILES * largest()


@contextmanager
def on_its_way(session: str, wanted: int) -> Iterator[None]:
    """Counts the bytes while they are received."""
    _underway[session] += wanted
    try:
        yield
    finally:
        _underway[session] -= wanted
        if not _underway[session]:
            del _underway[session]


def _held(session: str) -> int:
    manager = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    if not isinstance(manager, MemoryUploadedFileManager):
        return 0
    return sum(len(record.data) for record in list(manager.file_storage.get(session, {}).values()))
