"""The visitor: login, folder on disk, allowed servers, keys and caps."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import Error as StreamlitError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts import blocks
from vpp.cli import system
from vpp.environment import Environment
from vpp.errors import RunError, VppError
from vpp.llm.gate import Gate, canonical, is_loopback
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import OPENAI, EndpointSpec, Keys, keys_for
from vpp.runs.store import RunStore, User, check_runs
from vpp.show import markup

TYPED = "frame.keys"  # session key: the keys typed in this browser session, by their `exact` address
SESSIONS: set[str] = set()
"""Ids of the browser sessions whose user has logged in: only these upload files (pages/parts/middleware.py)."""
_STARTING = Lock()
OPEN_WORDS = (
    "This app is reached by others than the one who started it, and nobody is asked to log in: whoever reaches it sees "
    "and steers every run. Its owner can ask for a login, or say that this is meant (docs/sharing.md)."
)

DEMO_WORDS = (
    "This is a public demo. It runs the built-in demo model, which is not a language model. Everybody can see every "
    "table and control every run, so upload public data only. To use your own model, install the app."
)


def environment() -> Environment:
    """Return the owner's settings. A section [auth] of secrets.toml asks for a login, unless VPP_LOGIN says otherwise.

    Raises InputError.
    """
    # Streamlit itself makes variables of the texts and numbers of secrets.toml, but not of true and false.
    for name, value in _secrets().items():
        if isinstance(value, bool) and name.startswith("VPP_"):
            os.environ.setdefault(name, str(int(value)))
    if _auth() and not {**system.dotenv(), **os.environ}.get("VPP_LOGIN", "").strip():
        os.environ["VPP_LOGIN"] = "1"
    return system.environment()


def _secrets() -> Mapping[str, object]:
    return dict(st.secrets) if st.secrets.load_if_toml_exists() else {}


def _auth() -> Mapping[str, object]:
    section = _secrets().get("auth")
    return section if isinstance(section, Mapping) else {}


def is_let_in() -> bool:
    with suppress(VppError):
        return not environment().login or user() is not None
    return False


def may_upload(session: str) -> bool:
    with suppress(VppError):
        return session in SESSIONS or not environment().login
    return False


def sign_in() -> None:
    """End the page here for a visitor who must log in first, or may not enter, or if a variable cannot be used."""
    try:
        if not environment().login:
            return
    except VppError as error:
        _refused("This environment cannot be used", str(error))
        st.stop()
    context = get_script_run_ctx()  # Streamlit has no public name for the id of a session
    session = context.session_id if context else ""
    SESSIONS.discard(session)
    try:
        if user():
            SESSIONS.add(session)
            return
    except VppError as error:
        _refused("You cannot be let in", str(error))
        sign_out()
        st.stop()
    if not _auth():
        missing = "A login is asked for (VPP_LOGIN), and no provider is set: its owner must add [auth] to "
        _refused("Nobody can log in yet", f"{missing}.streamlit/secrets.toml, as docs/sharing.md says.")
        st.stop()
    with st.container(key="empty"):
        blocks.draw(markup.state("Log in to see your runs", "Each user sees their own runs and no others.", alone=True))
        for provider in _providers():
            label = "Log in" if provider is None else f"Log in with {provider.capitalize()}"
            if st.button(label, type="primary", key=f"person.login.{provider or ''}"):
                _log_in(provider)
    st.stop()


def _refused(head: str, words: str) -> None:
    blocks.draw(markup.state(head, words, failed=True, alone=True))


def _providers() -> list[str | None]:
    named = [name for name, value in _auth().items() if isinstance(value, Mapping) and "client_id" in value]
    return [*([None] if "client_id" in _auth() else []), *named]


def _log_in(provider: str | None) -> None:
    try:
        st.login(provider)
    except StreamlitError as error:
        words = f"The login cannot begin ({type(error).__name__}): its owner must correct [auth] in secrets.toml, and "
        _refused("Nobody can log in yet", f"{words}install what requirements-login.txt names.")
        print(f"vpp: the login cannot begin: {error}", file=sys.stderr)


def sign_out() -> None:
    if not environment().login:
        return
    name = st.user.get("name") or st.user.get("email") or "you"
    blocks.captions(f"Logged in: {name}")
    if st.button("Log out", key="person.logout", type="tertiary"):
        st.session_state.clear()
        st.logout()


def user() -> User | None:
    """Return the user whom the login cookie names, or None. Raises RunError for a user who may not enter."""
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        return None
    visitor = User.of(claims)
    if not visitor.may_enter(environment().allowed_users):
        raise RunError("this account is not among those that may enter: log in with another, or ask the app's owner")
    return visitor


def home() -> Path:
    """Return the visitor's folder: the runs folder, or with a login their own inside it. Raises RunError."""
    env = environment()
    if not env.login:
        return env.runs_dir.absolute()
    if visitor := user():
        return visitor.home(env.runs_dir.absolute())
    raise RunError("nobody is logged in: load the page anew")


def store() -> RunStore:
    return RunStore(home())


def cache_dir() -> Path:
    """Return the folder of the visitor's cached answers.

    Users share none, or the time an answer takes would reveal what others have asked.
    """
    env = environment()
    return home() / ".cache" if env.login else env.cache_dir


def is_reached_by_others() -> bool:
    """Return whether the server listens beyond this machine, or this page was asked for by another machine's name."""
    address = str(st.get_option("server.address") or "")
    headers = st.context.headers
    host = str(headers.get("Host") or "localhost")
    is_passed_on = any(name in headers for name in ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "Via"))
    return is_passed_on or not (is_loopback(f"http://{address}") and is_loopback(f"http://{host}"))


def open_words() -> str:
    env = environment()
    if env.login or not is_reached_by_others():
        return ""
    return DEMO_WORDS if env.demo_only else "" if env.shared else OPEN_WORDS


def gate() -> Gate:
    env = environment()
    return Gate.of(env.model_copy(update={"shared": env.shared or is_reached_by_others()}))


def may_use_model_files() -> bool:
    env = environment()
    return env.may_use_model_files and (env.allow_model_files or not is_reached_by_others())


def keys_of(endpoint: EndpointSpec) -> Keys:
    """Return the keys for an endpoint's addresses: this visitor's, else the owner's for the owner's addresses."""
    env = environment()
    own = replace(system.keys(), gate=gate(), model_files=may_use_model_files())
    typed: Mapping[str, str] = {} if env.endpoint_fixed else st.session_state.get(TYPED, {})
    return keys_for(endpoint, typed=typed, own=own, environment=env)


def ask_keys(endpoint: EndpointSpec) -> None:
    env = environment()
    if env.endpoint_fixed or endpoint.gguf:
        return
    fields = {canonical(endpoint.base_url): "Key, where the server wants one"}
    if endpoint.optimizer_base_url:
        fields.setdefault(canonical(endpoint.optimizer_base_url), "Key of the optimizer’s server")
    own = f" The environment’s key is for {env.base_url or OPENAI} alone." if env.api_key else ""
    about = f"Kept in this browser session only, never written to disk, and sent to this address alone.{own}"
    for address, label in fields.items():
        name = f"frame.key.{sha256(address.encode()).hexdigest()[:12]}"
        typed = st.session_state.get(TYPED, {})
        key = st.text_input(label, str(typed.get(address, "")), type="password", help=about, key=name)
        st.session_state[TYPED] = {**typed, address: key}


def consent(label: str, key: str, *urls: str) -> bool:
    away = sorted({urlsplit(url).hostname or url for url in urls if url and not is_loopback(url)})
    if not away:
        return True
    blocks.captions(f"Not this machine: {', '.join(away)}")
    return st.checkbox(label, **blocks.lasting(f"{key}.{'|'.join(away)}"))


@contextmanager
def starting(endpoint: EndpointSpec, but: RunDirectory | None = None, *, more: int = 1) -> Iterator[Keys]:
    """Check the cap on runs and yield the endpoint's keys; a lock keeps two starts from both being the last allowed.

    but: a run of the visitor that is about to resume, and is not counted. more: runs about to begin. Raises RunError
    above the cap.
    """
    with _STARTING:
        mine = store()
        check_runs(mine.runs(), most=environment().max_runs_per_user, more=more, but=but)
        yield keys_of(endpoint)


def variables() -> dict[str, str]:
    return {**os.environ, "VPP_CACHE_DIR": str(cache_dir())}
