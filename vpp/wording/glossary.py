"""The words of the instrument, each with its meaning in a sentence or two, and where the paper says it.

One meaning a term, wherever it is met: pages show it beside a label, the report lists those that a run has.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A term."""

    name: str
    meaning: str
    source: str = ""
    """Of the paper, by section and equation; empty where the paper does not use the term."""
    also: tuple[str, ...] = ()
    """Labels and headings that stand for it."""

    @property
    def id(self) -> str:
        """Its name in a page's markup."""
        return "term-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")


GLOSSARY: tuple[Entry, ...] = (
    # Hypotheses
    Entry("hypothesis", "A sentence that says how to predict the target from the inputs.", "Section 2"),
    Entry("particle", "A place, numbered from 0, that holds one hypothesis at a time.", "Section 3.3"),
    Entry(
        "idea",
        "All hypotheses that give the same answers to every row compared, however they are worded.",
        also=("Hypotheses grouped by identical predictions", "Ideas shared and not shared"),
    ),
    Entry(
        "explanation",
        "Ideas of which any two give the same answer on at least a set share of the rows, which the section names.",
    ),
    Entry(
        "living descendant",
        "A particle of the last population that came, step by step, from a first hypothesis.",
    ),
    Entry(
        "genealogy",
        "Which hypothesis each one was rewritten or copied from, step by step; a faint line has no living descendant.",
        also=("Genealogy",),
    ),
    Entry(
        "different sentences",
        "Texts that differ in any word, whether or not they answer alike.",
        also=("Different sentences",),
    ),
    Entry("particles K", "How many hypotheses are held at once.", "Section 3.3", ("Particles K",)),
    # Weights
    Entry(
        "weight",
        "The share of the posterior that a particle holds; all weights sum to 1.",
        "Section 3.3",
        ("Weight by step",),
    ),
    Entry(
        "ESS",
        "Effective sample size: by how many particles of equal weight the population could be replaced. It is one over "
        "the sum of the squared weights, from 1, where one particle holds all, to K, where all count alike.",
        "Sections 2 and 3.3",
        ("Effective sample size",),
    ),
    Entry(
        "resampling",
        "Copying particles by weight, so that light ones end; afterwards all weights are equal.",
        "Section 3.3",
    ),
    Entry(
        "β",
        "Tempering: it divides the log-likelihood before weights are made, so 10 is flat and 1 is sharp.",
        "Section 3.3, Eq. 10",
        ("Tempering β",),
    ),
    Entry(
        "φ",
        "Exponent of the likelihood, from 0, the prior, to 1, the posterior; φ = 1/β.",
        also=("Exponent φ = 1/β",),
    ),
    Entry(
        "log evidence",
        "Natural logarithm of the average likelihood of the training rows under the first draw.",
        also=("Log evidence",),
    ),
    # Rewriting
    Entry(
        "log-likelihood",
        "How well a hypothesis fits rows, as a natural logarithm. For labels, a row adds log(1 − ε) where the answer "
        "is right and log ε where it is wrong; for numbers, minus the squared error over 2τ.",
        "Section 3.1, Eq. 5 and 6",
    ),
    Entry(
        "log α, log u",
        "A proposal is accepted when log α, its log-likelihood less that of the text it would replace, times φ where a "
        "run has one, and at most 0, is not below log u, the logarithm of a random number between 0 and 1.",
        "Section 3.2, Eq. 9",
    ),
    Entry(
        "early rejection",
        "A rejection that was certain before all rows were answered: with every other row at its best, log α would "
        "still have been below log u. The calls that remained were cancelled.",
    ),
    Entry(
        "acceptance",
        "The share of judged rewritings that were taken. One that left the text as it was, or could not be read, is "
        "not judged.",
        "Section 3.2, Eq. 9",
        ("Proposals accepted",),
    ),
    Entry(
        "rewritten",
        "Hypotheses that the optimizer changed. Without a filter every change is taken, better or worse.",
        "Section 5.4",
        ("Rewritten",),
    ),
    Entry(
        "ruled out",
        "A hypothesis that was proposed and rejected, or was held and resampled away.",
        also=("Ruled out",),
    ),
    Entry(
        "error on the batch",
        "How wrong the hypotheses were on the few training rows that a step looked at, averaged over hypotheses. Each "
        "step has other rows, so it jumps.",
        also=("Error on the batch",),
    ),
    Entry(
        "step",
        "One batch of training rows, on which hypotheses are rewritten. Where particles have weights they are weighed "
        "first, on more rows than the batch: those of the buffer.",
        "Algorithms 1 and 2",
        ("Steps",),
    ),
    Entry(
        "calls",
        "Requests to a model, each for one answer or one rewriting. What the cache answers costs nothing.",
        also=("Calls", "Cost"),
    ),
    # Predictions
    Entry(
        "abstention",
        "An answer that could not be read after every re-ask. It has no vote and no share in a mean; where answers are "
        "counted one by one it is wrong, or off by the range of the training targets. It is never left out of a count.",
        also=("Abstained",),
    ),
    Entry(
        "vote",
        "Each particle’s answer counted with its weight, or alike where there are no weights; the heaviest answer is "
        "the prediction.",
        "Section 3.1, Eq. 8",
        ("Vote accuracy", "weighted vote", "unweighted vote"),
    ),
    Entry(
        "weighted mean",
        "The particles’ numbers averaged by weight, or alike where there are no weights: the prediction.",
        "Section 3.1, Eq. 7",
        ("Weighted mean", "Mean", "mean, 90 % of the particles"),
    ),
    Entry(
        "mean squared error",
        "The squared distance of the prediction from the truth, averaged over rows; 0 is best. Its root is a typical "
        "miss, in the target’s unit.",
        also=("Mean squared error", "test MSE"),
    ),
    Entry(
        "balanced accuracy",
        "The share told right of each label’s rows, averaged over the labels: a rare label counts as much as a common "
        "one. It is lower than the accuracy where rare labels are missed.",
        also=("Balanced accuracy", "Test balanced accuracy"),
    ),
    Entry(
        "mean absolute error",
        "How far the prediction is off, averaged over rows, in the target’s unit; large misses weigh less in it than "
        "in the mean squared error.",
        also=("Mean absolute error", "MAE", "Test mean absolute error"),
    ),
    Entry(
        "R²",
        "1 less the squared errors over those of the rows’ own mean: 1 is best, 0 no better than that mean, below 0 "
        "worse.",
        also=("Test R²",),
    ),
    Entry(
        "95 % interval",
        "Where the true share may lie, by Wilson’s method: with few rows it is wide.",
        also=("test accuracy",),
    ),
    # Disagreement
    Entry(
        "uncertain point",
        "A row on which the particles that answered are not unanimous, or none answered. Each voice counts once, "
        "however light.",
        "Section 5.3",
        ("Uncertain points", "Uncertain rows"),
    ),
    Entry(
        "weakly backed",
        "A row on which the weight behind the answer is below a threshold that you can move.",
        also=("Weakly backed", "I don’t know"),
    ),
    Entry(
        "entropy of the vote",
        "How divided the weights are over the labels, in bits: 0 where all say the same, 1 where two labels hold half "
        "each.",
        also=("Mean vote entropy",),
    ),
    Entry(
        "spread",
        "Weighted standard deviation of the particles’ numbers, in the target’s unit. Noise is not in it.",
        also=("Spread", "Mean spread", "Error by spread"),
    ),
    Entry(
        "90 % range",
        "Where the middle 90 % of the particles’ weight lies. It tells how far they differ; noise is not in it.",
        also=("Middle 90 %", "Truths in the 90 % range"),
    ),
    Entry("contradicted", "The particle answers, and some other particle with weight answers otherwise."),
    Entry("against the vote", "The particle answers, and not as the vote does."),
    # Doubt and error
    Entry(
        "right where all agree",
        "How often the vote is right on the rows on which all voices agree. Where doubt marks error it is higher than "
        "where they differ.",
        "Section 5.3",
        ("Right where all agree", "Right where they differ", "Does uncertainty mean error?"),
    ),
    Entry(
        "area under the risk curve",
        "Mean error where only the most certain rows are answered, over every share of rows; lower is better.",
        also=("Area under the risk curve", "Risk against coverage"),
    ),
    Entry(
        "calibration error",
        "Rows are put into ten bins by the vote’s share; it is the gap in a bin between that share and how often the "
        "vote is right, averaged over rows. 0 is best, 1 is worst.",
        also=("Calibration error, 10 bins", "Reliability"),
    ),
    Entry(
        "Brier score",
        "Squared distance of the vote’s shares from the truth, from 0 to 2; lower is better.",
    ),
    Entry(
        "log score",
        "Mean −log₂ of the share that the truth has, in bits; lower is better. One row on which nobody had the truth "
        "makes it infinite.",
        also=("Log score",),
    ),
    Entry(
        "rank correlation",
        "Spearman’s, of spread and absolute error: 1 where the wider spread always goes with the larger error, 0 where "
        "the one tells nothing of the other.",
        also=("Rank correlation",),
    ),
    Entry(
        "what would settle it",
        "An input whose true answer would, whichever it is, take weight from some of the particles: the more divided "
        "they are there, the more it tells.",
        also=("Most informative labels to collect",),
    ),
    Entry(
        "all five together",
        "Five runs that know nothing of each other, read as one posterior in which each counts alike.",
        "Section 5.1",
        ("Test accuracy, all five together", "Test mean squared error, all five together"),
    ),
    Entry(
        "best on train",
        "The hypothesis that does best on the training rows: what one could have picked without seeing the test rows.",
        also=("Best of five on train",),
    ),
    Entry(
        "oracle",
        "A choice made after seeing the test rows: a bound, not something one could have had.",
        also=("Best of five on test (oracle)",),
    ),
    # Runs side by side
    Entry(
        "p",
        "Sign test: among the rows on which the two do not do equally well, how often an even coin would split them at "
        "least as unevenly. It speaks of these test rows alone; among many comparisons a small p comes by chance.",
    ),
    Entry(
        "over seeds",
        "A seed decides the split of the table and every random draw. The standard deviation over seeds tells how much "
        "of a result is luck.",
        also=("Over seeds",),
    ),
)
"""In the order in which a reader meets them: from what is sampled to what is predicted."""


def _labels() -> dict[str, Entry]:
    found = [(label, entry) for entry in GLOSSARY for label in (entry.name, *entry.also)]
    by_label = dict(found)
    if len(by_label) != len(found):
        raise ValueError("two terms have one label")
    return by_label


BY_LABEL = _labels()
"""Each term by its name and by every label that stands for it."""
