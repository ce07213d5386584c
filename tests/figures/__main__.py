"""Weights beside the truth on simulated tables, and docs/pictures/calibration.svg: `python -m tests.figures`."""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np

from tests.figures.simulated import run
from vpp.settings import Config

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "calibration.svg"
SAMPLERS = {
    "adaptive": Config(),
    "incremental": Config(tempering="incremental", beta_start=100.0),
    "filtered": Config(tempering="paper"),
}
Bin = tuple[float, float, float, int]
"""Mean weight, share of true sentences, its standard error, and number of meanings."""


def bins(meanings: Sequence[tuple[float, bool]]) -> list[Bin]:
    """Return the non-empty fifths of the weights, the smallest first."""
    weights, truth = np.array(meanings).T
    fifth = np.minimum((5 * weights).astype(int), 4)
    members = [fifth == at for at in np.unique(fifth)]
    means = [(float(weights[some].mean()), float(truth[some].mean()), int(some.sum())) for some in members]
    # of the rule of succession, so that 0 of n has an error
    return [(w, t, ((n * t + 1) * (n - n * t + 1) / (n + 2) ** 2 / n) ** 0.5, n) for w, t, n in means]


def picture(found: list[Bin], every: list[Bin]) -> str:
    """SVG in colours that can be read on white and on black; bars are two standard errors."""
    marks = "".join(
        f'<g stroke="{colour}" fill="{colour}"><circle cx="{60 + 240 * w + shift:.1f}" cy="{260 - 240 * t:.1f}" r="4"/>'
        f'<path d="M{60 + 240 * w + shift:.1f} {260 - 240 * max(t - 2 * e, 0):.1f}'
        f'V{260 - 240 * min(t + 2 * e, 1):.1f}"/></g>'
        for colour, shift, points in (("#2a8ac4", -3, found), ("#d9762b", 3, every))
        for w, t, e, _ in points
    )
    words = "".join(
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}">{text}</text>'
        for x, y, colour, anchor, text in (
            (60, 278, "#808080", "middle", "0"), (300, 278, "#808080", "middle", "1"),
            (180, 278, "#808080", "middle", "weight"),
            (52, 264, "#808080", "end", "0"), (52, 24, "#808080", "end", "1"), (52, 144, "#808080", "end", "true"),
            (312, 40, "#2a8ac4", "start", "tables whose truth was found"), (312, 60, "#d9762b", "start", "all tables"),
        )
    )  # fmt: skip
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 490 290" font-family="sans-serif" font-size="12">'
        "<title>Share of true sentences by weight</title>"
        f'<path fill="none" stroke="#808080" d="M60 260V20H300V260ZL300 20"/>{marks}{words}</svg>\n'
    )


def main(n_tables: int = 200) -> None:
    with ProcessPoolExecutor() as pool:
        runs = {
            name: list(pool.map(partial(run, config=config), range(n_tables if name == "adaptive" else n_tables // 5)))
            for name, config in SAMPLERS.items()
        }
    every = bins([each for run in runs["adaptive"] for each in run.meanings])
    found = bins([each for run in runs["adaptive"] if run.is_found for each in run.meanings])
    PICTURE.write_text(picture(found, every), encoding="utf-8")
    for name, some in (("all", every), ("found", found)):
        print(name, *(f"{w:.2f}: {t:.2f} ± {e:.2f} ({n})" for w, t, e, n in some), sep="  ")
    print("sampler, tables, accuracy, log score, truth found, learner calls, weight and truth of the surest fifth")
    for name, each in {"adaptive, all": runs["adaptive"], **{k: v[: n_tables // 5] for k, v in runs.items()}}.items():
        scores = [mean(getattr(one, of) for one in each) for of in ("accuracy", "log_score", "is_found", "calls")]
        surest = bins([meaning for one in each for meaning in one.meanings])[-1]
        print(name, len(each), *(f"{score:.3f}" for score in (*scores, *surest[:2])), sep="  ")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
