"""Report: preview and download."""

import streamlit as st

from pages.parts import frame
from vpp.errors import VppError
from vpp.reporting import markup
from vpp.reporting.command import repeat_command
from vpp.reporting.document import report_body, report_html
from vpp.reporting.exports import posterior_json, predictions_csv
from vpp.reporting.markdown import report_markdown
from vpp.reporting.progress import nothing_yet


def page(run: frame.OpenRun) -> None:
    """Downloads first, then the report as it reads."""
    frame.head(run, "Report")
    view = run.snapshot.view
    if not view.population:
        st.html(markup.block(markup.state("Nothing to report yet", nothing_yet(run.snapshot.state))))
        st.page_link("pages/watch.py", label="Watch the run", query_params={"run": run.directory.id})
        st.stop()
    try:
        report = report_markdown(run.reader)
        files = [("report.md", report.encode(), "text/markdown"), *other_files(run, report)]
    except VppError as error:
        st.html(markup.block(markup.state("The report cannot be written", str(error), failed=True)))
        st.stop()
    for column, (name, content, mime) in zip(st.columns(4), files, strict=False):
        kind = "primary" if name == "report.md" else "secondary"
        column.download_button(
            f"Download {name}",
            content,
            file_name=f"{run.directory.id}-{name}",
            mime=mime,
            type=kind,
            key=f"report.{name}",
            on_click="ignore",
            width="stretch",
        )
    if run.snapshot.state in frame.LIVE:
        st.html(markup.block(markup.caption("The run goes on: this is how things stood when the page was drawn.")))
    repeat = repeat_command(run.snapshot.spec)
    st.html(
        markup.block(
            markup.heading("The same run from a terminal"),
            f'<pre class="raw">{markup.text(repeat.script)}</pre>',
            *(markup.caption(note) for note in repeat.notes),
        )
    )
    st.html(markup.block(markup.heading("Preview", "report.md")))
    st.html(markup.block(f'<div class="report">{report_body(report)}</div>'))


def other_files(run: frame.OpenRun, report: str) -> list[tuple[str, bytes, str]]:
    """The report as a page, and what other programs read."""
    files = [
        ("report.html", report_html(report, title=run.snapshot.spec.name).encode(), "text/html"),
        ("posterior.json", posterior_json(run.reader), "application/json"),
    ]
    if "test" in run.snapshot.view.evaluated:
        files.append(("predictions.csv", predictions_csv(run.reader), "text/csv"))
    return files


frame.enter()
page(frame.open_run("Report gathers a run in one document to keep or send."))
