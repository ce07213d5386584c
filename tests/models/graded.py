"""Labels against label probabilities on a real model: accuracy and calibration of a posterior, five seeds a table.

    python -m tests.models.graded --suite DIR --base-url URL --model NAME            # five given sentences
    python -m tests.models.graded --suite DIR --base-url URL --model NAME --learnt   # sentences of the model's own

Given sentences, the true one first, are weighed on 30 rows; learnt ones come from a run on as many. Either way the
posterior is judged on 30 other rows. Each seed draws its rows anew: from 40 and 40 rows of the suite's files for given
sentences, so that answers are asked for once, from all of them for learnt ones. Prints a line a table and likelihood.
"""

import argparse
import os
import tempfile
from dataclasses import replace
from math import inf, log2
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd

import vpp
from tests.markdown import table
from vpp.inspection.points import votes_on
from vpp.runs.spec import EndpointSpec

POOL, ROWS, SEEDS = 40, 30, 5
LEARNT: dict[str, Any] = {"particles": 4, "batch_size": 10, "epochs": 1, "test_size": 0}
IF_A = "If math is A, answer admitted; otherwise answer rejected."
SENTENCES = {
    "admission_noise_10": (
        IF_A,
        "If math is B, answer admitted; otherwise answer rejected.",
        "If math is C, answer admitted; otherwise answer rejected.",
        "If math is A or math is B, answer admitted; otherwise answer rejected.",
        "If math is not A, answer admitted; otherwise answer rejected.",
    ),
    "admission_depth_2": (
        "If num_publications is 1 or more and math is A, answer admitted; otherwise answer rejected.",
        IF_A,
        "If num_publications is 1 or more, answer admitted; otherwise answer rejected.",
        "If math is A or num_publications is 1 or more, answer admitted; otherwise answer rejected.",
        "If math is not A, answer admitted; otherwise answer rejected.",
    ),
    "admission_distractor_3": (
        IF_A,
        *(f"If {{{place}}} is 3 or more, answer admitted; otherwise answer rejected." for place in range(3)),
        "If math is not A, answer admitted; otherwise answer rejected.",
    ),
}
"""Sentences by table; a number in braces stands for a column of numbers, in their order."""


def judged(posterior: vpp.Posterior, others: pd.DataFrame) -> dict[str, float]:
    """Judge the posterior predictive on rows that it has not seen, the label last.

    It is the likelihood's own mixture with epsilon of the weighted vote; there are two labels.
    """
    target = others.columns[-1]
    asked = posterior.ask(others.drop(columns=target))
    known = zip(votes_on(asked), others[target].tolist(), strict=True)
    votes = [replace(vote, row=replace(vote.row, target=truth)) for vote, truth in known]
    epsilon = posterior.config.given("epsilon")
    assert epsilon is not None
    shares = [dict(vote.shares).get(str(vote.row.target), 0.0) for vote in votes]
    predictive = [share * (1 - epsilon) + (1 - share) * epsilon for share in shares]
    return {
        "accuracy": fmean(vote.prediction == vote.row.target for vote in votes),
        "Brier score": fmean(2 * (1 - p) ** 2 for p in predictive),
        "log score": fmean(-log2(p) for p in predictive),
        "without epsilon": fmean(-log2(share) if share else inf for share in shares),
    }


def spread(figures: list[float]) -> str:
    """Write mean and sample standard deviation; ∞ if a draw's is infinite, which has no deviation."""
    return "∞" if inf in figures else f"{fmean(figures):.3f} ± {stdev(figures):.3f}"


def main() -> None:
    """Print a line a table and likelihood, and write every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", required=True)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--runs", default="")
    parser.add_argument("--learnt", action="store_true", help="the model writes the sentences")
    options = parser.parse_args()
    endpoint = EndpointSpec(base_url=options.base_url, model=options.model, structured="auto", timeout_s=900)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VPP_RUNS_DIR"] = options.runs or folder
        for name, sentences in SENTENCES.items():
            train, test = (pd.read_csv(Path(options.suite) / f"{name}_{part}.csv") for part in ("train", "test"))
            if not options.learnt:
                train, test = train.head(POOL), test.head(POOL)
            target = train.columns[-1]
            numbers = [column for column in train.columns[:-1] if pd.api.types.is_numeric_dtype(train[column])]
            start = [each.format(*numbers) for each in sentences]
            for likelihood in ("labels", "logprobs"):
                found = []
                for seed in range(SEEDS):
                    rows, others = (part.sample(ROWS, random_state=seed) for part in (train, test))
                    common: dict[str, Any] = {"target": target, "endpoint": endpoint}
                    common |= {"likelihood": likelihood, "epsilon": 0.05}
                    if options.learnt:
                        posterior = vpp.fit(rows, seed=seed, **LEARNT, **common)
                        calls = posterior.result["calls"]
                        more = {"learner calls": calls["learner"], "optimizer calls": calls["optimizer"]}
                    else:
                        posterior = vpp.weigh(rows, start=start, **common)
                        more = {"weight of the truth": posterior.weights[0]}
                    found.append(judged(posterior, others) | more)
                    print(name, likelihood, seed, found[-1], posterior, sep="\n", flush=True)
                lines.append([name, likelihood, *(spread([each[key] for each in found]) for key in found[0])])
    head = ("table", "likelihood", *found[0])
    print("\n".join(table(head, lines)))


if __name__ == "__main__":
    main()
