"""The fault campaign in short: one case of most kinds, and resumes that are broken on purpose."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.torture.campaign import Finding, torture
from tests.torture.cases import FAULTS, VARIANTS, Case, case_of
from tests.torture.faults import BY_NAME
from tests.torture.references import reference_for
from tests.torture.sight import AS_IT_IS, killed_run, lost_when_resumed
from vpp.runs.directory import RunDirectory

SMC, NUMBERS, TEMPERED = (
    next(variant for variant in VARIANTS if variant.name == name) for name in ("smc", "smc, numbers", "smc, tempered")
)
CASES = tuple(
    Case(seed, fault, variant, cached, "in a step")
    for seed, (fault, variant, cached) in enumerate(
        (
            ("worker killed twice", TEMPERED, True),
            ("web server, worker and model killed", NUMBERS, True),
            ("disk full", SMC, True),
            ("503 storm", NUMBERS, True),
            ("garbled answers, killed", SMC, True),
            ("torn journal", TEMPERED, False),
            ("second worker", SMC, True),
            ("control file of garbage", TEMPERED, True),
        )
    )
)
BREAKAGES_HERE = ("from_the_step_before", "torn_tail_kept", "unfinished_step_counted", "other_numbers")
"""`make torture` tries them all."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the undisturbed runs and the cases; each undisturbed run is made once, before those that need it."""
    found = tmp_path_factory.mktemp("torture")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda case: reference_for(case, found / "undisturbed"), {c.variant: c for c in CASES}.values()))
    return found


@pytest.fixture(scope="module")
def findings(folder: Path) -> dict[str, Finding]:
    """What came of each case; four at a time, since they mostly wait."""
    with ThreadPoolExecutor(4) as pool:
        return {found.case.fault: found for found in pool.map(lambda case: torture(case, folder), CASES)}


@pytest.mark.parametrize("fault", [case.fault for case in CASES])
def test_a_disturbed_run_ends_like_an_undisturbed_one(findings: dict[str, Finding], fault: str) -> None:
    if findings[fault].skipped:
        pytest.skip(findings[fault].skipped)
    assert findings[fault].lost == ()


@pytest.fixture(scope="module")
def killed(folder: Path) -> Iterator[tuple[RunDirectory, RunDirectory]]:
    """A killed run, and the undisturbed one."""
    with killed_run(folder) as found:
        yield found


def test_the_resume_as_it_is_loses_nothing(killed: tuple[RunDirectory, RunDirectory], tmp_path: Path) -> None:
    assert lost_when_resumed(*killed, tmp_path, AS_IT_IS) == ()


@pytest.mark.parametrize("breakage", BREAKAGES_HERE)
def test_a_resume_that_is_broken_on_purpose_is_caught(
    killed: tuple[RunDirectory, RunDirectory], tmp_path: Path, breakage: str
) -> None:
    assert lost_when_resumed(*killed, tmp_path, breakage) != ()


def test_every_fault_is_made_and_a_seed_decides_its_case() -> None:
    assert {case_of(seed).fault for seed in range(len(FAULTS))} == set(FAULTS) == set(BY_NAME)
    assert [case_of(seed) for seed in range(40)] == [case_of(seed) for seed in range(40)]
    assert {case_of(seed).variant for seed in range(240)} == set(VARIANTS)
