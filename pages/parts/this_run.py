"""Actions on the open run: rename, start again with changes, delete; and the response cache."""

from contextlib import closing

import streamlit as st

from pages.parts import blocks, opening, person
from vpp.errors import VppError
from vpp.llm.cache import ResponseCache
from vpp.runs import store
from vpp.wording import markup
from vpp.wording.words import counted

CONFIRMING = "this_run.deleting"
"""Session key: id of the run whose deletion waits for confirmation."""


def draw(run: opening.OpenRun) -> None:
    with st.expander(
        "This run: rename it, start it again, delete it; the cache", key="this_run", on_change="rerun"
    ) as fold:
        if not fold.open:
            return
        rename(run)
        start_again(run)
        delete(run)
        cache()


def rename(run: opening.OpenRun) -> None:
    with st.form("this_run.rename", border=False, enter_to_submit=True):
        left, right = st.columns([2.6, 1], vertical_alignment="bottom")
        name = left.text_input("Name", run.snapshot.spec.name, max_chars=120, key=f"this_run.name.{run.directory.id}")
        asked = right.form_submit_button("Rename the run", width="stretch")
    if asked:
        with opening.refusals("The run keeps its name"):
            store.rename(run.directory, name)
            st.rerun()


def start_again(run: opening.OpenRun) -> None:
    left, right = st.columns([2.6, 1], vertical_alignment="center")
    words = "A new run on the same rows, from these settings: change what you like before it starts. This one stays."
    left.html(markup.block(markup.caption(words)))
    if right.button("Start again with changes", key="this_run.again", width="stretch"):
        # Late: the form needs pandas, and Watch should not wait for it.
        from pages.parts import form

        form.fill(run.directory.id, run.snapshot.spec)
        st.switch_page("pages/new_run.py")


def delete(run: opening.OpenRun) -> None:
    # A run that has paused at its cap may have no worker: then nothing goes on.
    live = run.snapshot.state in opening.LIVE and (run.snapshot.state != "paused" or run.directory.is_held())
    left, right = st.columns([2.6, 1], vertical_alignment="center")
    words = "A run that is going on is not deleted: stop it first." if live else "Deleting removes its folder for good."
    left.html(markup.block(markup.caption(words)))
    if right.button("Delete this run", key="this_run.delete", width="stretch", disabled=live):
        st.session_state[CONFIRMING] = run.directory.id
    if not live and st.session_state.get(CONFIRMING) == run.directory.id:
        confirm(run)


def confirm(run: opening.OpenRun) -> None:
    name, files = run.snapshot.spec.name, "its hypotheses, answers and report"
    blocks.draw(markup.state(f"Delete {name}?", f"Run {run.directory.id}: {files} cannot be brought back."))
    with st.container(horizontal=True):
        if st.button("Delete it for good", type="primary", key="this_run.delete_now"):
            with opening.refusals("The run was not deleted"):
                store.delete(run.directory)
                st.session_state.pop(CONFIRMING, None)
                st.session_state.pop("run", None)
                st.session_state[opening.DELETED] = run.directory.id
                st.query_params.pop("run", None)
                st.rerun()
        st.button("Keep it", key="this_run.keep", on_click=lambda: st.session_state.pop(CONFIRMING, None))


def cache() -> None:
    left, right = st.columns([2.6, 1], vertical_alignment="center")
    folder = person.cache_dir()
    try:
        responses = ResponseCache(folder)
    except VppError as error:
        left.html(markup.block(markup.caption(str(error))))
        return
    cleared = ""
    with closing(responses):
        if right.button("Clear the cache", key="this_run.clear", width="stretch"):
            before = responses.info()
            responses.clear()
            cleared = f"Cleared {counted(before[0], 'answer')}, {before[1] / 2**20:.1f} MiB. "
        entries, size = responses.info()
    words = f"{cleared}The cache of all runs holds {counted(entries, 'answer')}, {size / 2**20:.1f} MiB, in {folder}. "
    without = "Without it, repeated questions are asked anew. The demo model, as this app starts it, does not use it."
    left.html(markup.block(markup.caption(words + without)))
