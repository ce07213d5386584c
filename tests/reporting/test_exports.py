from pathlib import Path

from tests import inspected
from vpp.reporting.exports import write_all, write_html


def test_three_files_are_written_and_their_paths_returned(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    before = {path.name for path in directory.path.iterdir()}
    paths = write_all(directory)
    assert paths[0] == directory.path / "report.md"
    assert paths[0].read_text(encoding="utf-8").startswith("# toy\n")
    written = {path.name for path in directory.path.iterdir()} - before
    assert written == {path.name for path in paths} == {"posterior.json", "predictions.csv", "report.md"}


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    path = write_html(directory)
    assert path == directory.path / "report.html"
    assert path.read_bytes().startswith(b"<!doctype html>")
    assert not list(directory.path.glob(".*.part"))


def test_writing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    first = [path.read_bytes() for path in (*write_all(directory), write_html(directory))]
    assert first == [path.read_bytes() for path in (*write_all(directory), write_html(directory))]
