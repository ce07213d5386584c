"""A comparison of two texts: numbers, abstentions, many rows, hostile text."""

from tests.reporting.builders import SEED, dataset
from vpp.data.dataset import Value
from vpp.findings.experiments import comparison_blocks, comparison_words
from vpp.posterior.likelihood import GaussianLikelihood
from vpp.problem import Prediction
from vpp.runs.asking import Comparison, Rewording, compare
from vpp.show.markup import html

HARM = "Output a. <img src=x onerror=alert(1)>"


def wording(rows: int, *, exponent: float = 1.0) -> Rewording:
    new = f"{SEED} {HARM}"
    return Rewording(slot=3, old=f"{SEED} Output 1.", new=new, rows=tuple(range(rows)), exponent=exponent)


def numbers(*new: Value | None) -> tuple[Comparison, str]:
    data = dataset([0.0, 1.0, 2.0, 4.0], [1.0])
    said = [
        [Prediction(row=row.id, value=v) for row, v in zip(data.train, each, strict=True)] for each in ([1.0] * 4, new)
    ]
    likelihood = GaussianLikelihood(tau=2.0, abstention_error=4.0)
    found = compare(*said, data.train, dataset=data, likelihood=likelihood, exponent=0.5)
    blocks = comparison_blocks(wording(4, exponent=0.5), found, rows="training rows", seed_text=SEED)
    return found, html(blocks)


def test_numbers_are_compared_in_the_targets_unit_and_an_abstention_is_named() -> None:
    # Squared errors of 1.0: 1 0 1 9; of the new text: 0 1 16 (abstained) 0.
    found, shown = numbers(0.0, 2.0, None, 4.0)
    words = list(comparison_words(wording(4, exponent=0.5), found, "training rows"))
    assert [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in words] == [
        "Acceptance probability 47 %: an accept step would take your text with this probability. "
        "No random number is drawn here.",
        "Log-likelihood −4.25 on 4 training rows, against −2.75 of the one it would replace, times φ = 0.5.",
        "2 rows won (0 and 3). 2 rows lost (1 and 2). 1 row without a readable answer (2).",
    ]
    assert "<td>no answer</td><td>lost</td>" in shown
    assert "<img" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown
