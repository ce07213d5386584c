"""One particle's ancestors."""

from tests.inspected import SEED, label_events
from tests.reporting.builders import view_of
from vpp.drawing.cards import ancestry_html
from vpp.findings.genealogy import genealogy


def ancestors_html(slot: int, *, most: int | None = None) -> str:
    family = genealogy(view_of(*label_events()))
    assert family
    return ancestry_html(family.ancestry(slot), seed_text=SEED, is_weighted=True, most=most)


def test_ancestors_stand_oldest_first_with_what_changed() -> None:
    html = ancestors_html(1)
    assert html.index("first hypothesis") < html.index("step 0") < html.rindex("step 1")
    assert "Unchanged: 1 proposal of the same words." in html
    assert "a is <del>even,</del> <ins>above 6,</ins> else no." in html
    assert "copied from particle 0" in html
    assert "weight 0.375" in html
    assert "weight 0.300" in html
