"""Glossary: each term with its meaning in a sentence or two, and its place in the paper.

Pages show the meaning next to a label; the report lists the terms that a run uses.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A term."""

    name: str
    meaning: str
    source: str = ""
    """Section and equation of the paper; empty if the paper does not use the term."""
    also: tuple[str, ...] = ()
    """Labels and headings with the same meaning."""

    @property
    def id(self) -> str:
        """The element id in a page's markup."""
        return "term-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")


GLOSSARY: tuple[Entry, ...] = (
    # Hypotheses
    Entry("hypothesis", "A sentence that says how to predict the target from the inputs.", "Section 2"),
    Entry("particle", "A place, numbered from 0, that holds one hypothesis at a time.", "Section 3.3"),
    Entry(
        "idea",
        "Hypotheses that give the same answer to every compared row, whatever their wording.",
        also=(
            "Hypotheses grouped by identical predictions",
            "Shared and unshared ideas",
        ),
    ),
    Entry(
        "explanation",
        "Ideas that pairwise agree on at least a set share of the rows; the section names the share.",
    ),
    Entry(
        "living descendant",
        "A particle of the last population that descends from a given first hypothesis.",
    ),
    Entry(
        "genealogy",
        "The hypothesis that each one was rewritten or copied from, step by step. Faint lines have no living "
        "descendant.",
        also=("Genealogy",),
    ),
    Entry(
        "different sentences",
        "Texts that differ in at least one word. Their predictions may be the same.",
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
        "Effective sample size: the number of equally weighted particles that the population is worth. It is one over "
        "the sum of the squared weights: 1 if one particle holds all weight, K if all weights are equal.",
        "Sections 2 and 3.3",
        ("Effective sample size",),
    ),
    Entry(
        "resampling",
        "Drawing the next population by weight: heavy particles get copies, light ones end. Afterwards weights are "
        "equal.",
        "Section 3.3",
    ),
    Entry(
        "β",
        "Tempering: log-likelihoods are divided by β before they become weights. 10 makes weights flat, 1 sharp.",
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
        "How well a hypothesis fits rows, as a natural logarithm. For labels, a right answer adds log(1 − ε) and a "
        "wrong one log ε; for numbers, a row adds minus the squared error over 2τ.",
        "Section 3.1, Eq. 5 and 6",
    ),
    Entry(
        "log α, log u",
        "A proposal is accepted if log α is at least log u, the logarithm of a random number between 0 and 1. log α is "
        "the proposal’s log-likelihood minus that of the text it would replace, times φ if the run has one, and at "
        "most 0.",
        "Section 3.2, Eq. 9",
    ),
    Entry(
        "early rejection",
        "A rejection that was certain before all rows were answered: even with the best possible answers to the rest, "
        "log α would have stayed below log u. The remaining calls were cancelled.",
    ),
    Entry(
        "acceptance",
        "The share of judged proposals that were accepted. Unchanged and unreadable proposals are not judged.",
        "Section 3.2, Eq. 9",
        ("Proposals accepted",),
    ),
    Entry(
        "rewritten",
        "Hypotheses that the optimizer changed. Without an accept step every change is kept, better or worse.",
        "Section 5.4",
        ("Rewritten",),
    ),
    Entry(
        "ruled out",
        "A hypothesis that was proposed and rejected, or lost in resampling.",
        also=("Ruled out",),
    ),
    Entry(
        "error on the batch",
        "Error on the training rows of a step’s batch, averaged over hypotheses. Each step has another batch, so the "
        "curve jumps.",
        also=("Error on the batch",),
    ),
    Entry(
        "step",
        "One batch of training rows, on which hypotheses are rewritten. Methods with weights first weigh particles on "
        "the buffer, which holds more rows than the batch.",
        "Algorithms 1 and 2",
        ("Steps",),
    ),
    Entry(
        "calls",
        "Requests to a model, each for one answer or one rewriting. Answers from the cache cost nothing.",
        also=("Calls", "Cost"),
    ),
    # Predictions
    Entry(
        "abstention",
        "An answer that could not be read even after asking again. It has no vote and no share in a mean. Where "
        "answers are counted one by one it counts as wrong, or as off by the range of the training targets.",
        also=("Abstained",),
    ),
    Entry(
        "vote",
        "The answer with the most weight, or without weights the most frequent one: the prediction.",
        "Section 3.1, Eq. 8",
        ("Vote accuracy", "weighted vote", "unweighted vote"),
    ),
    Entry(
        "weighted mean",
        "The particles’ numbers averaged by weight, or without weights plainly: the prediction.",
        "Section 3.1, Eq. 7",
        ("Weighted mean", "Mean", "mean, 90 % of the particles"),
    ),
    Entry(
        "mean squared error",
        "Squared difference of prediction and truth, averaged over rows; 0 is best. Its root is a typical miss, in the "
        "target’s unit.",
        also=("Mean squared error", "test MSE"),
    ),
    Entry(
        "balanced accuracy",
        "Mean per-class recall: the share of each label’s rows that is right, averaged over labels, so that a rare "
        "label counts as much as a common one.",
        also=("Balanced accuracy",),
    ),
    Entry(
        "mean absolute error",
        "How far the prediction is off, averaged over rows, in the target’s unit. Large misses weigh less than in the "
        "mean squared error.",
        also=("Mean absolute error", "MAE"),
    ),
    Entry(
        "R²",
        "1 minus the ratio of the squared errors to those of always answering the rows’ own mean. 1 is best, 0 is no "
        "better than that mean.",
    ),
    Entry(
        "95 % interval",
        "Range in which the true share plausibly lies, by Wilson’s method. Few rows make it wide.",
        also=("test accuracy",),
    ),
    # Disagreement
    Entry(
        "uncertain point",
        "A row on which the answering particles are not unanimous, or none answered. Each particle counts once, "
        "whatever its weight.",
        "Section 5.3",
        ("Uncertain points", "Uncertain rows"),
    ),
    Entry(
        "weakly backed",
        "A row whose prediction has less weight behind it than a threshold that you can move.",
        also=("Weakly backed", "I don’t know"),
    ),
    Entry(
        "entropy of the vote",
        "How divided the weight is over the labels, in bits: 0 if all agree, 1 if two labels hold half each.",
        also=("Mean vote entropy",),
    ),
    Entry(
        "spread",
        "Weighted standard deviation of the particles’ numbers, in the target’s unit. It does not include noise.",
        also=("Spread", "Mean spread", "Error by spread"),
    ),
    Entry(
        "90 % range",
        "Range that holds the middle 90 % of the particles’ weight. It does not include noise.",
        also=("Middle 90 %", "Truths in the 90 % range"),
    ),
    Entry("contradicted", "Another particle with weight gives a different answer."),
    Entry("against the vote", "The particle’s answer differs from the vote."),
    # Doubt and error
    Entry(
        "right where all agree",
        "How often the vote is right on rows on which all particles agree. If disagreement marks error, it is higher "
        "than on the other rows.",
        "Section 5.3",
        ("Right where all agree", "Right where they differ", "Does uncertainty mean error?"),
    ),
    Entry(
        "area under the risk curve",
        "Mean error if only the most certain rows are answered, averaged over every share of rows; lower is better.",
        also=("Area under the risk curve", "Risk against coverage"),
    ),
    Entry(
        "calibration error",
        "Rows are put into ten bins by the vote’s share. In each bin, the gap between that share and how often the "
        "vote is right; averaged over rows. 0 is best, 1 worst.",
        also=("Calibration error, 10 bins", "Reliability"),
    ),
    Entry(
        "Brier score",
        "Squared distance between the vote’s shares and the truth, from 0 to 2; lower is better.",
    ),
    Entry(
        "log score",
        "Mean −log₂ of the share of the vote that the truth has, in bits; lower is better. One row without any vote "
        "for the truth makes it infinite.",
        also=("Log score",),
    ),
    Entry(
        "rank correlation",
        "Spearman’s correlation of spread and absolute error: 1 if a wider spread always means a larger error, 0 if "
        "the two are unrelated.",
        also=("Rank correlation",),
    ),
    Entry(
        "most informative labels",
        "Inputs on which particles are most divided: whatever the true answer, it takes weight from some of them. "
        "Ranked by expected information gain.",
        also=("Most informative labels to collect",),
    ),
    Entry(
        "all five together",
        "Five independent runs read as one posterior with equal weights.",
        "Section 5.1",
        ("Test accuracy, all five together", "Test mean squared error, all five together"),
    ),
    Entry(
        "best on train",
        "The hypothesis that does best on the training rows, picked without seeing the test rows.",
        also=("Best of five on train",),
    ),
    Entry(
        "oracle",
        "A choice made after seeing the test rows: an upper bound that no real choice can count on.",
        also=("Best of five on test (oracle)",),
    ),
    # Runs side by side
    Entry(
        "p",
        "Sign test on the rows where the two runs differ: the probability of a split at least this uneven if both were "
        "equally good. Among many comparisons, a small p comes up by chance.",
    ),
    Entry(
        "over seeds",
        "A seed decides the split of the table and every random draw. The standard deviation over seeds shows how much "
        "of a result is luck.",
        also=("Over seeds",),
    ),
)
"""Ordered from sampling to prediction."""


BY_LABEL = {label: entry for entry in GLOSSARY for label in (entry.name, *entry.also)}
"""Each term by its name and its labels."""
