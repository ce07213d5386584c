"""The planted faults of `make mutants` are faults of the code as it is."""

import ast

import pytest

from tests.mutants import MUTANTS, ROOT, Mutant, fate


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_fault_finds_its_passage_and_leaves_a_module_that_can_be_read(mutant: Mutant) -> None:
    ast.parse(mutant.source())
    assert all((ROOT / path).exists() for path in mutant.tests.split())


def test_no_fault_is_planted_twice_and_one_that_keeps_its_tests_from_ending_holds_nothing_up() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len({mutant.source() for mutant in MUTANTS}) == len(MUTANTS)

    tests = "tests/posterior/test_weights.py"
    endless = Mutant("endless", "posterior/weights.py", "import math\n", "while True: ...\n", tests)
    assert fate(endless, within_s=1) == "timed out"
