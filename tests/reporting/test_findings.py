"""What report.md says of the two hand-made runs, worked out by hand."""

from pathlib import Path

from tests import inspected
from tests.reporting.builders import YES_NO, drawn, finished, proposed, run, started
from vpp.reporting.markdown import report, report_markdown
from vpp.reporting.markdown_findings import MOST_TEXTS
from vpp.runs.reader import RunReader
from vpp.settings import Config

NBSP = "\N{NO-BREAK SPACE}"


def section(reader: RunReader, title: str) -> str:
    found = next(each for each in report(reader).sections if each.title == title)
    return found.markdown.replace(NBSP, " ")


def test_groups_of_ideas_that_agree_are_a_table(tmp_path: Path) -> None:
    assert "| 0.600 | 1 | 2 | one idea |" in section(inspected.labels(tmp_path), "Agreement between hypotheses")


def test_each_ideas_first_particle_is_traced_to_its_first_hypothesis(tmp_path: Path) -> None:
    written = section(inspected.labels(tmp_path), "Where the ideas came from")
    assert "3 of 4 first hypotheses have living descendants; the largest family is 2 particles of first hyp" in written
    assert "### Idea 1: particle 0, from first hypothesis 0; never reworded" in written
    assert "### Idea 2: particle 1, from first hypothesis 0; its words changed at step 1" in written
    assert "- The first hypothesis: Say yes if a is even, else no." in written
    assert "- Step 1, rewritten, accepted: Say yes if a is above 6, else no." in written


def test_whether_uncertainty_means_error_is_shown_with_its_numbers(tmp_path: Path) -> None:
    written = section(inspected.labels(tmp_path), "Does uncertainty mean error?")
    # Only row 9 is wrong, one of the three on which they differ.
    assert "Where all agree, 3 of 3 are right; where they differ, 2 of 3 are right." in written
    assert "6 test rows are too few for a verdict" in written
    # Worked out in tests/inspection/test_points.py.
    assert "| Area under the risk curve | 0.131 |" in written
    assert "random order to the best possible: 0.167 at random, 0.028 at best. |" in written
    assert "| Calibration error, 10 bins | 0.267 of 1 |" in written
    # Row 7: 2 * 0.3^2, row 8: 2 * 0.4^2, row 9: 2 * 0.9^2, over six rows.
    assert "| Brier score | 0.353 of 2 |" in written
    assert "| Log score | 0.762 bits |" in written


def test_each_particle_is_shown_among_the_others(tmp_path: Path) -> None:
    written = section(inspected.labels(tmp_path / "labels"), "Where the particles disagree")
    assert "### Particle by particle, on the test rows" in written
    # ODD abstains on row 6, and is contradicted on rows 7, 8 and 9; against the vote on 8 and 9.
    odd = "| 3 | 0.100 | 83 % (5 of 6) | 50 % (3 of 6) | 33 % (2 of 6) | 80 % (4 of 5) | 67 % (4 of 6) |"
    assert odd in written
    numbers = section(inspected.numbers(tmp_path / "numbers"), "Where the particles disagree")
    assert "| 1.5 | 1.5 |" in numbers
    assert "an abstention is off by the range" in numbers


def test_simple_models_stand_beside_the_posterior_where_asked_for(tmp_path: Path) -> None:
    reader = inspected.numbers(tmp_path)
    # The mean of 0, 1, 2, 4 misses 1, 3, 5, 2 by 12.75 squared in all; the line 1.3 a - 0.2 by 81.26.
    assert "| one answer | 3.188 |" in section(reader, "In brief")
    assert "| linear model | 20.3" in section(reader, "In brief")
    assert "linear model |" not in report_markdown(reader, simple_models=False)


def test_a_long_list_of_rejected_texts_is_cut_and_says_so(tmp_path: Path) -> None:
    n = MOST_TEXTS + 5
    config, texts = Config(method="mh", particles=n), [f"held {k}" for k in range(n)]
    rejected = [proposed(0, k, text, f"refused {k}") for k, text in enumerate(texts)]
    events = [started(config, YES_NO), *drawn(*texts), *rejected, finished(0, texts)]
    written = section(run(tmp_path, *events, config=config), "What the data ruled out")
    assert f"### Rejected: {n} texts, {n} times in all" in written
    assert written.count("> refused") == MOST_TEXTS
    assert "And 5 more: posterior.json has all." in written


def test_the_terms_are_those_of_the_method(tmp_path: Path) -> None:
    of_smc = section(inspected.labels(tmp_path / "smc"), "Terms used here")
    assert all(f"- **{term}**: " in of_smc for term in ("idea", "ESS", "β", "log α, log u", "uncertain point"))
    vml = run(tmp_path / "vml", started(Config(method="vml"), YES_NO), config=Config(method="vml"))
    of_vml = section(vml, "Terms used here")
    assert not [term for term in ("ESS", "β", "weight", "idea", "log α, log u") if f"**{term}**" in of_vml]
