"""A Posterior opened from a run on disk: what it answers, and how it shows itself."""

import asyncio
import math
import re
from concurrent.futures import Future
from pathlib import Path

import pytest

import vpp
from tests import inspected
from tests.processes import wait_until
from tests.reporting.builders import dataset, drawn, run, started
from vpp.errors import InputError
from vpp.library.posterior import Particle, to_end
from vpp.settings import Config

HOSTILE = "<img src=x onerror=alert(1)> \x1b[31m [a](http://b) </td></table><script>x</script>"


@pytest.fixture
def labels(tmp_path: Path) -> vpp.Posterior:
    return vpp.load_run(inspected.labels(tmp_path).directory.path)


@pytest.fixture
def numbers(tmp_path: Path) -> vpp.Posterior:
    return vpp.load_run(inspected.numbers(tmp_path).directory.path)


def test_particles_have_weight_text_idea_and_log_likelihood(labels: vpp.Posterior) -> None:
    assert labels.particles[2] == Particle(
        slot=2, weight=0.2, text=inspected.PAIR, idea=0, log_likelihood=math.log(0.2)
    )
    assert [idea.slots for idea in labels.ideas] == [(0, 2), (1,), (3,)]
    assert (labels.weights, labels.hypotheses) == ([0.4, 0.3, 0.2, 0.1], list(inspected.LABEL_SLOTS))


def test_disagreement_is_a_frame_with_the_most_divided_row_first(labels: vpp.Posterior) -> None:
    frame = labels.disagreement()
    # Votes of 0.6, 0.7 and 0.9 of the weight; all agree on the rest.
    assert frame.index.tolist() == [8, 7, 9, 4, 5, 6]
    assert frame.loc[[8, 7, 9, 6], "share"].tolist() == pytest.approx([0.6, 0.7, 0.9, 0.9])
    assert frame.loc[6, "abstained"] == pytest.approx(0.1)
    assert frame["uncertain"].tolist() == [True, True, True, False, False, False]
    assert frame.loc[9, ["truth", "prediction", "particle_1", "particle_3"]].tolist() == ["no", "yes", "yes", "no"]
    assert frame.loc[8, "entropy_bits"] == pytest.approx(-0.6 * math.log2(0.6) - 0.4 * math.log2(0.4))


def test_a_lineage_goes_from_the_first_hypothesis_to_now(labels: vpp.Posterior) -> None:
    assert [(each.step, each.slot, each.changed) for each in labels.lineage(1)] == [
        (-1, 0, True),
        (0, 0, False),
        (1, 1, True),
    ]
    assert labels.lineage(1)[-1].text == inspected.BIG
    with pytest.raises(InputError, match="has no particle 4"):
        labels.lineage(4)


def test_a_notebook_and_a_terminal_get_a_line_an_idea(labels: vpp.Posterior) -> None:
    assert f"| 30 % | 50.0 % | 1 copy | {inspected.BIG} |" in labels._repr_markdown_()
    assert f"\n30 %  50.0 %  1 copy  {inspected.BIG}\n" in str(labels)


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    data = dataset(["yes", "no"], ["yes"])
    reader = run(tmp_path, started(Config(particles=2), data), *drawn(HOSTILE, "b"), data=data, name=HOSTILE)
    posterior = vpp.load_run(reader.directory.path)
    assert not re.search(r"(?<!\\)<(img|script)", posterior._repr_markdown_())
    assert "\x1b" not in str(posterior)


def test_the_library_works_inside_a_running_event_loop_and_cancels_what_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends: list[str] = []

    async def work(seconds: float) -> str:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise
        return "done"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    async def cell() -> None:
        assert to_end(work(0)) == "done"
        with monkeypatch.context() as here:
            here.setattr(Future, "result", interrupt)
            with pytest.raises(KeyboardInterrupt):
                to_end(work(60))

    asyncio.run(cell())
    wait_until(lambda: ends, "the interrupted work is cancelled")
    assert ends == ["cancelled"]
