from pathlib import Path

from tests import inspected
from vpp.reporting.exports import write_all, write_html


def test_three_files_are_written_and_the_reports_path_returned(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    before = {path.name for path in directory.path.iterdir()}
    report = write_all(directory)
    assert report == directory.path / "report.md"
    assert report.read_text(encoding="utf-8").startswith("# toy\n")
    written = {path.name for path in directory.path.iterdir()} - before
    assert written == {"posterior.json", "predictions.csv", "report.md"}


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    path = write_html(directory)
    assert path == directory.path / "report.html"
    assert path.read_bytes().startswith(b"<!doctype html>")
    assert not list(directory.path.glob(".*.part"))


def test_writing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    first = [write_all(directory).read_bytes(), write_html(directory).read_bytes()]
    first.append((directory.path / "posterior.json").read_bytes())
    again = [write_all(directory).read_bytes(), write_html(directory).read_bytes()]
    assert first == [*again, (directory.path / "posterior.json").read_bytes()]
