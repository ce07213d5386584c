"""Report: preview and download."""

import shlex

import streamlit as st
from vpp.reporting.exports import posterior_json, predictions_csv
from vpp.reporting.markdown import report_markdown

from pages import frame
from vpp.errors import VppError
from vpp.reporting import markup


def page(run: frame.OpenRun) -> None:
    """Downloads first, then the report as it reads."""
    frame.head(run, "Report")
    view = run.snapshot.view
    if not view.population:
        st.html(markup.block(markup.state("Nothing to report yet", "The first hypotheses are still being written.")))
        st.page_link("pages/watch.py", label="Watch the run", query_params={"run": run.directory.id})
        st.stop()
    try:
        report = report_markdown(run.reader)
        files = ("report.md", report.encode(), "text/markdown"), *data_files(run)
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
    command = run.snapshot.spec.command
    if command:
        st.html(
            markup.block(
                markup.heading("The same run from a terminal"),
                f'<pre class="raw">{markup.text("python -m vpp " + shlex.join(command))}</pre>',
            )
        )
    st.html(markup.block(markup.heading("Preview", "report.md")))
    with st.container(key="report_preview"):
        st.markdown(report)


def data_files(run: frame.OpenRun) -> list[tuple[str, bytes, str]]:
    """What other programs read."""
    files = [("posterior.json", posterior_json(run.reader), "application/json")]
    if "test" in run.snapshot.view.evaluated:
        files.append(("predictions.csv", predictions_csv(run.reader), "text/csv"))
    return files


page(frame.open_run("Report gathers a run in one document to keep or send."))
