"""Report: its two pages, and files to keep or send."""

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import streamlit as st

from pages.parts import blocks, frame, opening
from pages.parts.opening import OpenRun
from vpp.errors import InputError
from vpp.findings.progress import nothing_yet
from vpp.reporting.document import report_html, report_markdown, two_pages
from vpp.reporting.exports import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.reporting.standalone import Standalone, standalone
from vpp.show import markup
from vpp.show.markup import html


def page(run: OpenRun) -> None:
    opening.head(run, "Report", has_verdict=False)
    snapshot = run.snapshot
    if not snapshot.view.population:
        opening.not_yet(run, "Nothing to report yet", nothing_yet(snapshot.state))
        st.stop()
    state = (run.id, snapshot.view.last_at, snapshot.state, snapshot.spec.name)
    preview, python = blocks.remembered("report.made", state, lambda: made(run))
    offer(run, python)
    notes = [python.words] if python else []
    if run.is_live:
        notes.append("The run goes on: this is the report when the page was drawn.")
    programs = "programs, " if run.snapshot.spec.config.has_programs else ""
    notes.append(f"The files add an appendix: {programs}simple models, calibration, what was ruled out, limits.")
    blocks.captions(*notes)
    blocks.draw(f'<div class="report">{preview}</div>')


def made(run: OpenRun) -> tuple[str, Standalone | None]:
    """Return the two pages, and posterior.py, None if it can hold no hypothesis."""
    python = None
    if run.snapshot.spec.config.has_programs:
        with suppress(InputError):
            python = standalone(run.reader)
    return html(two_pages(run.reader)), python


def offer(run: OpenRun, python: Standalone | None) -> None:
    reader = run.reader

    def button(name: str, label: str, mime: str, make: Callable[[], str | bytes]) -> None:
        kind: Literal["primary", "tertiary"] = "primary" if name == "report.html" else "tertiary"
        file, key = f"{run.id}-{name}", f"report.{name}"
        st.download_button(label, make, file_name=file, mime=mime, type=kind, key=key, on_click="ignore")

    # A lone surrogate of a run's text is no UTF-8.
    page = "Download the report (HTML)"
    button("report.html", page, "text/html", lambda: report_html(reader).encode(errors="replace"))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="report_files"):
        st.html(markup.block(markup.caption("Also:")), width="content")
        button("report.md", "Markdown", "text/markdown", lambda: report_markdown(reader))
        button("posterior.json", "Posterior as JSON", "application/json", lambda: posterior_json(reader))
        if "test" in run.snapshot.view.evaluations:
            button("predictions.csv", "Predictions as CSV", "text/csv", lambda: predictions_csv(reader))
        if python:
            button("posterior.py", "Python", "text/x-python", lambda: python.content)


frame.enter()
page(opening.open_run("Report", "gathers a run in one document to keep or send."))
