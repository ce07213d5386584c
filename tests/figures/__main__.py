"""Weights beside the truth on simulated tables, and docs/pictures/calibration.svg: `python -m tests.figures`.

It fails if a bin is off by more than a tenth: a bin of weights, on the tables with a true hypothesis, from its share of
true ones; a bin of estimates that there is none, from its share of such tables.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np

from tests.figures.simulated import NOISES, Judged, Shares, run
from vpp.settings import Config

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "calibration.svg"
SAMPLERS = {
    "adaptive": Config(patience=0),
    "settled": Config(),
    "incremental": Config(tempering="incremental", beta_start=100.0),
    "filtered": Config(tempering="paper", patience=0),
}
N_COMPARED = 40
"""Tables on which the samplers are compared."""
FIFTHS, UNSURE, ESTIMATES = (0.2, 0.4, 0.6, 0.8), (0.2, 0.8), (0.1, 0.15)
"""Inner edges of bins of weight, and of estimates that no true hypothesis was written."""
TOLERANCE = 0.1
"""Largest difference of a bin's mean weight and its share of true hypotheses, of 400 tables or more."""
Bin = tuple[float, float, float, int]
"""Mean weight, share of true ones, its standard error, and their number."""


def bins(tables: Sequence[Shares], edges: Sequence[float] = FIFTHS) -> list[Bin]:
    """Return the non-empty bins, the lightest first. Tables are independent; the shares of one exclude each other."""
    table = np.repeat(np.arange(len(tables)), [len(shares) for shares in tables])
    weights, truth = np.array([each for shares in tables for each in shares]).T
    place, found = np.searchsorted(edges, weights, side="right"), []
    for members in (place == at for at in np.unique(place)):
        n, share = int(members.sum()), float(truth[members].mean())
        # of a ratio, by tables: sqrt(sum_t (true_t - share n_t)^2) / n
        off = np.bincount(table[members], weights=truth[members] - share)
        found.append((float(weights[members].mean()), share, float(np.sqrt(np.square(off).sum())) / n, n))
    return found


def by_finding(tables: Sequence[Shares]) -> dict[str, Sequence[Shares]]:
    """The tables with a true one, and all."""
    found = [shares for shares in tables if any(is_true for _, is_true in shares)]
    return {f"where found ({len(found)} tables)": found, f"in all ({len(tables)} tables)": tables}


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
        "<title>Share of true hypotheses by weight</title>"
        f'<path fill="none" stroke="#808080" d="M60 260V20H300V260ZL300 20"/>{marks}{words}</svg>\n'
    )


def report(runs: Sequence[Judged]) -> bool:
    """Print the shares of true hypotheses and sentences, and draw the picture of the hypotheses. runs: by seed.

    Return whether each bin is within the tolerance: of the hypotheses' weights, on the tables with a true hypothesis,
    and of the estimates that there is none, on all tables.
    """
    noisiest = [run.hypotheses for run in runs[len(NOISES) - 1 :: len(NOISES)]]
    kinds = {
        "hypotheses": [run.hypotheses for run in runs],
        "sentences": [run.meanings for run in runs],
        f"hypotheses with {NOISES[-1]:.0%} flipped": noisiest,
        "hypotheses with fewer": [run.hypotheses for at, run in enumerate(runs) if (at + 1) % len(NOISES)],
    }
    for kind, tables in kinds.items():
        for name, some in by_finding(tables).items():
            print(kind, name, *(f"{w:.2f}: {t:.3f} ± {e:.3f} ({n})" for w, t, e, n in bins(some, UNSURE)), sep="  ")
    missing = bins([((run.novelty, not any(is_true for _, is_true in run.hypotheses)),) for run in runs], ESTIMATES)
    print("no true hypothesis, by its estimate", *(f"{p:.2f}: {t:.3f} ± {e:.3f} ({n})" for p, t, e, n in missing))
    with_truth, every = by_finding(kinds["hypotheses"]).values()
    PICTURE.write_text(picture(bins(with_truth), bins(every)), encoding="utf-8")
    return all(abs(estimate - share) <= TOLERANCE for estimate, share, *_ in (*bins(with_truth, UNSURE), *missing))


def main(n_tables: int = 800) -> None:
    with ProcessPoolExecutor() as pool:
        runs = {
            name: list(pool.map(partial(run, config=config), range(n_tables if name == "adaptive" else N_COMPARED)))
            for name, config in SAMPLERS.items()
        }
    is_calibrated = report(runs["adaptive"])
    print("sampler: accuracy, log score, truth found and learner calls, means of as many tables; and its bins")
    for name, each in runs.items():
        compared = each[:N_COMPARED]
        scores = [mean(getattr(one, of) for one in compared) for of in ("accuracy", "log_score", "is_found", "calls")]
        by_weight = [f"{w:.2f}: {t:.2f} ± {e:.2f}" for w, t, e, _ in bins([one.hypotheses for one in compared], UNSURE)]
        print(name, *(f"{score:.3f}" for score in scores), *by_weight, sep="  ")
    if not is_calibrated:
        sys.exit(f"a bin of hypotheses is off by more than {TOLERANCE}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
