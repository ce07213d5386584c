"""The verdict on a finished run: how good it is beside the best simple model, and how sure where it was wrong."""

import math

from vpp.data.dataset import Dataset
from vpp.findings.baselines import baselines
from vpp.findings.points import points, reject_option
from vpp.findings.scores import averaged_score, score_text
from vpp.posterior.metric import CHANCE, paired_difference
from vpp.problem import losses_of
from vpp.runs.reader import Snapshot
from vpp.show.blocks import Say
from vpp.show.words import counted, integer, percent

SURE = 0.95
"""Share of the vote from which an answer counts as certain."""
NAMES = {"constant": "One answer for all rows", "linear": "A linear model", "tree": "A tree of depth 2"}


def verdict(snapshot: Snapshot, dataset: Dataset) -> Say:
    view, config = snapshot.view, snapshot.spec.config
    test = view.evaluated.get("test")
    if not view.population:
        return Say("The first population is incomplete: there is no result yet.")
    if not dataset.test:
        return Say("There are no test rows, so nothing says how well the hypotheses predict new rows.")
    if test is None:
        return Say("The test rows are not evaluated yet.")
    own, best, targets = averaged_score(test, dataset), baselines(dataset).best, [row.target for row in dataset.test]
    losses = (losses_of(dataset, answers, targets) for answers in (test.averaged, best.answers))
    difference = paired_difference(*(each.tolist() for each in losses))
    name = NAMES.get(best.name, "A model of the words")
    other = score_text(best.score)
    words = f"Off by {math.sqrt(own.mse or 0.0):.3g} on average over {counted(own.n, 'test row')}. "
    if own.n_correct is not None and best.score.n_correct is not None:
        words = f"Right on {integer(own.n_correct)} of {counted(own.n, 'test row')} ({percent(own.value)}). "
        other = integer(best.score.n_correct)
    significant = "significantly" if difference.p < CHANCE else "not significantly"
    relation = "as good" if not difference.mean else f"{significant} {'better' if difference.mean > 0 else 'worse'}"
    words += f"{name} reaches {other}, {relation}."
    sure = sum(
        p.is_wrong and p.behind >= SURE for p in points(test, dataset, reject_option(view, config, dataset, of=test))
    )
    if sure:
        words += f" It was certain and wrong on {counted(sure, 'row')}: do not trust its confidence."
    return Say(words)
