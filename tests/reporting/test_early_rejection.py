"""An early rejection is described as one in cards, ledger, report, export and the words on a step."""

import json
from pathlib import Path
from typing import Any

from tests.reporting.builders import YES_NO, drawn, finished, proposed, run, scored, started
from vpp.drawing.cards import CardMaker
from vpp.drawing.ledger import ruled_out_html
from vpp.inspection.ruled_out import rejected
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.wording.happening import happened

CONFIG = Config(method="mh", particles=2, early_rejection=True)


def rejected_early(folder: Path) -> RunReader:
    """One of four rows was answered, wrongly."""
    ids = [row.id for row in YES_NO.train]
    cut: dict[str, Any] = {"log_likelihood_proposal": None, "log_alpha": None}
    return run(
        folder,
        started(CONFIG, YES_NO),
        *drawn("a", "a"),
        scored(0, 0, "a", {row.id: row.target for row in YES_NO.train}, log_lik=-0.25),
        scored(0, 0, "bad", {ids[0]: None}, role="proposal", log_lik=-3.0),
        proposed(0, 0, "a", "bad", **cut, log_likelihood=-0.25, unanswered=3, log_likelihood_bound=-3.25, u=0.5),
        scored(0, 1, "a", {row.id: row.target for row in YES_NO.train}, log_lik=-0.25),
        proposed(0, 1, "a", None, why="unparsable", log_likelihood=None, **cut, u=None),
        finished(0, ("a", "a")),
        config=CONFIG,
    )


def test_it_is_shown_with_the_rows_that_were_answered_and_what_was_still_possible(tmp_path: Path) -> None:
    reader = rejected_early(tmp_path)
    snapshot, data = reader.refresh(), reader.dataset()
    (card,) = CardMaker(snapshot.view, CONFIG, data, PromptMaker(snapshot.spec, data)).at(0)
    assert [each.slot for each in card.stack] == [0, 1]
    assert card.folds[0].notes == (
        "proposed at temperature 0.7",
        "1 of 1 batch rows contradicts it (rows 0)",
        "Rejected after 1 of 4 rows: log-likelihood at most −3.25, against −0.25 of the text it would replace. "
        "log α, at most −3.00, is below log u = −0.69.",
    )
    assert (
        "Rejected after 1 of 4 rows: log-likelihood at most −3.25, against −0.25 of the text it would replace.</p>"
        '<p class="cap">log α, at most −3.00, is below log u = −0.69.</p>'
    ) in ruled_out_html(rejected(snapshot.view, data), seed_text="")
    assert (
        "Rejected after 1 of 4 rows: log-likelihood at most −3.25, against −0.25 of the text it would replace. "
        "log α, at most −3.00, is below log u = −0.69. 1 of 1 row contradicts it; the text that stayed is right there."
    ) in report_markdown(reader)
    assert happened(snapshot.view, 0, CONFIG) == (
        "Step 0: 0 of 2 proposals accepted, 1 rejected, 1 unreadable. "
        "1 rejection certain before all rows were answered."
    )
    # The export has the bound and no log-likelihood.
    (occasion,) = json.loads(posterior_json(reader))["ruled_out"][0]["occasions"]
    assert (occasion["unanswered"], occasion["log_likelihood_bound"], occasion["n_rows"]) == (3, -3.25, 1)
    assert (occasion["log_likelihood_proposal"], occasion["log_alpha"], occasion["u"]) == (None, None, 0.5)
