"""Options of the method, and the two presets."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from vpp.errors import InputError

Method = Literal["smc", "mh", "always-accept", "vml", "vml5", "weigh"]
Preset = Literal["recommended", "paper"]
PRESET_WORDS = "recommended: as this product advises; paper: as in the paper, but with our own wording of its prompts"
Tempering = Literal["auto", "paper", "incremental", "adaptive"]
ScoredRows = Literal["batch", "buffer", "train"]
Grading = Literal["labels", "logprobs"]
Reading = Literal["rows", "program", "auto"]
WEIGHING = (
    "seed", "reading", "score_rows", "certify", "tau", "likelihood", "learner_samples", "epsilon", "abstention_cost",
    "coverage",
)  # fmt: skip
"""Options with an effect where given sentences are weighed."""
FOR_EXPERTS = (
    "restart", "mh_rows", "buffer_size", "beta_start", "mutate", "final_weights",
)  # fmt: skip
"""Options that presets and `vpp.fit` set; the command line and the form leave them out."""
PRIOR_TEMPERATURE = 1.0
"""Sampling temperature of draws from the prior: the model's own distribution, which other temperatures distort."""
INITIAL_TEMPERATURES = (0.3, 1.2)
"""Sampling temperatures of the first and the last hypothesis drawn from the first batch; a spread makes them differ."""
CAUTIOUS_TEMPERATURE = 0.3
"""SMC's mutations at or above the median: small changes of what fits (Section 3.3)."""
BOLD_TEMPERATURE = 1.0  # SMC's mutations below the median: large changes of what does not fit
PROPOSAL_TEMPERATURE = 0.7
"""Proposals of every method but smc (the paper's table of hyperparameters)."""
SAMPLES_TEMPERATURE = 0.7
"""The learner's temperature with several samples a row: at 0 all would be equal, and from 1 a small model rambles."""
BETA_END = 1.0  # the last tempering divisor: the likelihood itself
ESS_SHARE = 0.5
"""SMC resamples when the ESS falls below this share of K (Algorithm 2, line 8); adaptive tempering aims at it."""
LARGEST_BETA = 1e9
"""The largest tempering divisor; its inverse is the smallest. Arithmetic with more extreme ones can overflow."""
SERVER_DOCS: Mapping[str, str] = {
    "concurrency": "most calls in flight; 0: as many as a round needs, 1,024 to 4,096",
    "structured": "constrain the learner's answers to a JSON schema; auto: if a test call shows that the server can",
    "reasoning_effort": "effort of a thinking model, by default its own",
    "learner_max_tokens": "tokens of the learner's answer, of which a thinking model needs thousands (512)",
    "optimizer_max_tokens": "tokens of a hypothesis with its reasons (1536)",
    "context_length": "tokens of prompt and answer together (asked of the server)",
    "timeout_s": "seconds of a call, which is then repeated (120; for a model file 3600)",
    "max_wait_s": "seconds of retrying a lost endpoint (3600)",
    "calls": "requests, retries included, after which the run pauses (none)",
    "cost": "money after which it pauses (none)",
    "cell_limit": "characters shown of a cell (all that the models' contexts hold)",
}
"""Meaning of what a run says about its server and its limits, for the command line and the form."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""Reasoning efforts of a thinking model."""
STRUCTURED = ("auto", "off")
"""Whether the server enforces the form of the learner's answers; auto: if it can."""
CHAINS_OF_VML: Mapping[str, int] = {"vml": 1, "vml5": 5}
"""Hypotheses of the methods that have no K of their own."""


def _option(default: Any, doc: str, *, least: float | None = None, most: float = math.inf) -> Any:
    """Return an option. least, most: bounds of a number, both allowed."""
    return field(default=default, metadata={"doc": doc, "range": None if least is None else (least, most)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every option of the method. Defaults are the preset `recommended`."""

    method: Method = _option(
        "smc",
        "sampler: smc (Algorithm 2), mh (Algorithm 1), always-accept (mh without its filter), vml (one hypothesis), "
        "vml5 (five vml runs), or weigh (your sentences on all rows, none rewritten)",
    )
    particles: int = _option(10, "K, the number of particles; vml always has one, vml5 five", least=1)
    epochs: int = _option(2, "passes over the training rows", least=1)
    batch_size: int = _option(10, "M, rows a step", least=1)
    patience: int = _option(
        5, "steps in a row without a change after which the run is settled and ends; 0: never", least=0
    )
    seed: int = _option(0, "decides the split, the batches, every random number and the models' seeds", least=0)
    reading: Reading = _option(
        "auto",
        "how sentences are read: rows (the learner reads the sentence for every row, as in the paper), program (it "
        "translates the sentence once, and the program answers every row) or auto (a program, and rows for a sentence "
        "that cannot be one)",
    )
    score_rows: int = _option(
        1_000, "most training rows, drawn at random, that steps use with programs; the final weights use all", least=1
    )
    certify: int = _option(
        8, "training rows that the learner also reads itself for each heavy program at the end; 0 to skip", least=0
    )
    prior: str = _option("", "what you already believe, in plain words; becomes part of every hypothesis")
    restart: float = _option(
        0.0,
        "chance that a proposal of mh, or a filtered one of smc, is drawn afresh from the prior, without data; "
        "at 1 the first hypotheses are too: the exact sampler",
        least=0,
        most=1,
    )
    mh_rows: ScoredRows = _option("batch", "rows on which mh compares a proposal: batch, buffer, or all training rows")
    buffer_size: int = _option(60, "B, the last rows seen, on which smc weighs particles", least=1)
    tempering: Tempering = _option(
        "auto",
        "smc's weights: auto (adaptive for programs, else paper), paper (each step anew), incremental (ratios of "
        "tempered posteriors on all training rows, with evidence) or adaptive (the same, exponents found as it goes)",
    )
    beta_start: float = _option(
        10.0,
        "first tempering divisor of the log-likelihood; 10 is flat on a buffer, incremental tempering wants 100",
        least=1 / LARGEST_BETA,
        most=LARGEST_BETA,
    )
    mutate: Literal["every", "filtered"] = _option(
        "filtered",
        "smc's rewriting: every particle, or filtered (from mistakes, if there are any; kept by an accept step); "
        "incremental and adaptive tempering always filter",
    )
    final_weights: Literal["rescored", "train", "paper"] = _option(
        "train",
        "smc's last weights: rescored on the buffer, on all training rows (train), or the paper's, in whose buffer a "
        "row that a later epoch repeats counts again",
    )
    tau: str = _option("auto", "regression's tau in squared units of the target, or auto: integrated out")
    likelihood: Grading = _option(
        "labels",
        "classification's likelihood: of the label answered (labels), or of each label's probability (logprobs)",
    )
    learner_samples: int = _option(
        1, "answers per row, at temperature 0.7; from 2, a label's probability is its share of them", least=1
    )
    epsilon: str = _option(
        "auto",
        "mass of each wrong answer in classification's likelihood (Eq. 6), or auto: of all together, integrated out",
    )
    coverage: float = _option(
        0.9, "with calibration rows, how often the truth is to be among what is called possible", least=0.5, most=0.99
    )
    abstention_cost: float = _option(
        1 / 3, "cost of “I don’t know” in errors: a label decides from the probability 1 - cost on", least=0, most=1
    )

    def __post_init__(self) -> None:
        for name in ("tau", "epsilon"):
            object.__setattr__(self, name, str(getattr(self, name)))  # a number is as good as its text
        _check_options(self)
        if self.likelihood == "logprobs" and self.learner_samples > 1:
            raise InputError("likelihood logprobs and learner_samples exclude each other: leave learner_samples at 1")
        if self.reading == "program" and not self.has_programs:
            raise InputError("a program gives no label probabilities: take reading rows, or likelihood labels")

    @property
    def size(self) -> int:
        return CHAINS_OF_VML.get(self.method, self.particles)

    @property
    def is_weighted(self) -> bool:
        return self.method in ("smc", "weigh")

    @property
    def is_weighing(self) -> bool:
        """True if the given sentences are weighed on all rows, and no optimizer is asked."""
        return self.method == "weigh"

    @property
    def has_programs(self) -> bool:
        """True if sentences are translated into programs, which answer all rows alike fast."""
        is_graded = self.likelihood == "logprobs" or self.learner_samples > 1
        return self.reading != "rows" and not is_graded

    @property
    def schedule(self) -> Literal["paper", "incremental", "adaptive"]:
        """How smc tempers; adaptive by default for programs."""
        if self.tempering == "auto":
            return "adaptive" if self.has_programs else "paper"
        return self.tempering

    @property
    def is_telescoping(self) -> bool:
        """True if weights are ratios of tempered posteriors on fixed rows, carried from step to step."""
        return self.is_weighing or (self.method == "smc" and self.schedule != "paper")

    @property
    def scored_on(self) -> ScoredRows:
        """Rows on which a step scores each particle: its batch, the rolling buffer, or all training rows."""
        if self.has_programs and (self.is_weighted or self.method == "mh"):
            return "train"
        if self.is_weighted:
            return "train" if self.is_telescoping else "buffer"
        return self.mh_rows if self.method == "mh" else "batch"

    @property
    def is_filtered(self) -> bool:
        return self.method == "mh" or (self.method == "smc" and (self.mutate == "filtered" or self.is_telescoping))

    @property
    def can_settle(self) -> bool:
        """True if rewrites pass an accept step, steps share rows, and the likelihood is whole before the last step."""
        is_late = self.method == "smc" and self.schedule == "incremental"
        return self.is_filtered and self.scored_on != "batch" and not is_late

    @property
    def starts_from_prior(self) -> bool:
        """True if first hypotheses are drawn from the prior, as all proposals are."""
        return self.is_filtered and self.restart == 1

    @property
    def is_rescored(self) -> bool:
        """True if smc weighs its texts once more after the last rewrite, which the paper's weights do not know."""
        return self.method == "smc" and self.final_weights != "paper"

    @property
    def draws_initial(self) -> bool:
        """True if first hypotheses are asked for; vml begins with the seed sentence, weigh with given ones."""
        return self.method not in CHAINS_OF_VML and not self.is_weighing

    def noise(self, name: Literal["tau", "epsilon"]) -> float | None:
        """The given noise; None if it is integrated out."""
        value: str = getattr(self, name)
        return None if value == "auto" else float(value)

    def beta(self, step: int, *, steps: int) -> float:
        """Tempering divisor of a step: linear from `beta_start` to 1 over steps 0 to T - 1."""
        if steps == 1:
            return BETA_END
        return self.beta_start + (BETA_END - self.beta_start) * step / (steps - 1)


@cache
def choices(name: str) -> tuple[str, ...]:
    return get_args(get_type_hints(Config)[name])


def _check_options(config: Config) -> None:
    for option in fields(config):
        value, bounds, allowed = getattr(config, option.name), option.metadata["range"], choices(option.name)
        if allowed and value not in allowed:
            raise InputError(f"{option.name} is {value!r}: choose one of {', '.join(allowed)}")
        if bounds and not bounds[0] <= value <= bounds[1]:
            least, most = bounds
            must = f"be at least {least:g}" if math.isinf(most) else f"lie between {least:g} and {most:g}"
            raise InputError(f"{option.name} is {value}: it must {must}")
    for name, below, must in (("epsilon", 1.0, "a number between 0 and 1"), ("tau", math.inf, "a positive number")):
        noise = getattr(config, name)
        try:
            is_allowed = noise == "auto" or 0 < float(noise) < below
        except ValueError:
            is_allowed = False
        if not is_allowed:
            raise InputError(f"{name} is {noise!r}: give {must}, or auto")


def preset(name: Preset) -> Config:
    """The two presets of the method: `paper` as published, `recommended` as this product advises."""
    if name not in get_args(Preset):
        raise InputError(f"preset is {name!r}: choose one of {', '.join(get_args(Preset))}")
    if name == "recommended":
        return Config()
    return Config(
        patience=0,
        reading="rows",
        mutate="every",
        buffer_size=40,
        final_weights="paper",
        tau="1.0",
        epsilon="0.05",
        abstention_cost=1.0,  # the label with most weight wins (Eq. 8)
    )


def option_docs() -> dict[str, str]:
    return {f.name: f.metadata["doc"] for f in fields(Config)}
