"""Report: preview and download."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from pages.parts import blocks, frame, opening, pieces
from vpp.errors import InputError
from vpp.findings.progress import nothing_yet
from vpp.reporting.data_tree import HOW_TO_GET, is_available, posterior_nc
from vpp.reporting.document import report_body, report_html
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.reporting.standalone import Standalone, standalone
from vpp.runs.reader import RunReader
from vpp.show import markup
from vpp.wording.brief import unread_html
from vpp.wording.command import repeat_command


def page(run: opening.OpenRun) -> None:
    pieces.head(run, "Report")
    view = run.snapshot.view
    if not view.population:
        opening.not_yet(run, "Nothing to report yet", nothing_yet(run.snapshot.state))
        st.stop()
    if unread := unread_html(view):
        blocks.draw(unread)
    offer(run)
    preview(run)
    blocks.draw(markup.heading("The same run from a terminal"))
    command = repeat_command(run.snapshot.spec)
    st.code(command.script, language=None, wrap_lines=True)
    if command.notes:
        blocks.captions(*command.notes)


def preview(run: opening.OpenRun) -> None:
    snapshot = run.snapshot
    key = (str(run.directory.path), snapshot.view.last_at, snapshot.state, snapshot.spec.name)
    report = report_of(key, run.reader)
    blocks.draw(markup.heading("Preview"), f'<div class="report">{report_body(report, under=2)}</div>')
    notes = []
    if not is_available():
        notes.append(f"The particles for ArviZ (posterior.nc) are not offered. {HOW_TO_GET}.")
    if run.snapshot.state in opening.LIVE:
        notes.append("The run goes on: the preview shows the run when the page was drawn.")
    blocks.captions(*notes)


@st.cache_data(max_entries=16, show_spinner="Writing the report")
def report_of(key: tuple[str, float | None, str, str], _reader: RunReader) -> str:
    """Return the markdown, without simple baselines so that it is quick; made again if the run has changed."""
    return report_markdown(_reader, simple_models=False)


def offer(run: opening.OpenRun) -> None:
    reader = run.reader

    def button(name: str, label: str, mime: str, make: Callable[[], bytes]) -> None:
        kind: Literal["primary", "tertiary"] = "primary" if name == "report.html" else "tertiary"
        file, key = f"{run.directory.id}-{name}", f"report.{name}"
        st.download_button(label, make, file_name=file, mime=mime, type=kind, key=key, on_click="ignore")

    def html() -> bytes:
        return report_html(reader).encode(errors="replace")

    button("report.html", "Download the report (HTML)", "text/html", html)
    key = (str(run.directory.path), run.snapshot.view.last_at)
    python = python_of(key, reader) if run.snapshot.spec.config.has_programs else None
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="report_files"):
        st.html(markup.block(markup.caption("Also:")), width="content")
        button("report.md", "Markdown", "text/markdown", lambda: report_markdown(reader).encode())
        button("posterior.json", "Posterior as JSON", "application/json", lambda: posterior_json(reader))
        if "test" in run.snapshot.view.evaluated:
            button("predictions.csv", "Predictions as CSV", "text/csv", lambda: predictions_csv(reader))
        if python:
            button("posterior.py", "Python", "text/x-python", lambda: python.content)
        if is_available():
            button("posterior.nc", "ArviZ NetCDF", "application/x-netcdf", lambda: posterior_nc(reader))
    if python:
        blocks.captions(python.words)


@st.cache_data(max_entries=16, show_spinner=False)
def python_of(key: tuple[str, float | None], _reader: RunReader) -> Standalone | None:
    """Return posterior.py, made again if the run has changed; None if it can hold no hypothesis."""
    try:
        return standalone(_reader)
    except InputError:
        return None


frame.enter()
page(opening.open_run("Report", "gathers a run in one document to keep or send."))
