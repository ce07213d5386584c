from pathlib import Path

from tests import inspected
from vpp.reporting.document import write_all, write_html


def test_three_files_are_written_and_their_paths_returned_and_again_the_same_bytes(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    before = {path.name for path in directory.path.iterdir()}
    paths = write_all(directory)
    assert paths[0] == directory.path / "report.md"
    assert paths[0].read_text(encoding="utf-8").startswith("# toy\n")
    written = {path.name for path in directory.path.iterdir()} - before
    assert written == {path.name for path in paths} == {"posterior.json", "predictions.csv", "report.md"}
    first = [path.read_bytes() for path in (*paths, write_html(directory))]
    assert first[-1].startswith(b"<!doctype html>")
    assert first == [path.read_bytes() for path in (*write_all(directory), write_html(directory))]
    assert not list(directory.path.glob(".*.part"))
