"""Faults planted one at a time in the samplers and in what is read off a run: `make mutants`. A test must find each.

Every mutant is a copy of the tree with one passage replaced; the tests named beside it are run on the copy. A mutant
that no test notices survives, and is a hole in the tests.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[1]
FAILED = 1
"""pytest's exit code where tests ran and some failed; any other code says nothing of the mutant."""
WITHIN_S = 300
"""For the tests of one mutant, which take some seconds: a fault may keep them from ending at all."""
Fate = Literal["caught", "timed out", "SURVIVES"]


@dataclass(frozen=True)
class Mutant:
    """One passage of one module, replaced."""

    name: str
    module: str
    passage: str
    instead: str
    tests: str

    def spoiled(self) -> str:
        """The module with its fault. Raises ValueError where the passage does not stand once: the code moved on."""
        source = (ROOT / "vpp" / self.module).read_text(encoding="utf-8")
        if source.count(self.passage) != 1:
            raise ValueError(
                f"{self.name}: {self.passage!r} stands {source.count(self.passage)} times in {self.module}"
            )
        return source.replace(self.passage, self.instead)


ACCEPTANCE = "tests/posterior/test_acceptance.py tests/inference/test_target.py"
LITERAL = "tests/inference/test_transcription.py"
WEIGHTS = "tests/posterior/test_weights.py"
RESAMPLING = "tests/posterior/test_resampling.py"
TEMPERING = "tests/posterior/test_tempering.py"
EVIDENCE = "tests/inference/test_evidence.py"
VARIANTS = "tests/inference/test_variants.py"
PARTICLES = "tests/inference/test_particles.py"
RESIZING = "tests/inference/test_resizing.py"
ORDER = "tests/inference/test_order_and_resume.py"
AHEAD = "tests/inference/test_ahead.py"
EARLY = "tests/inference/test_early_rejection.py"
CANCELLATION = "tests/inference/test_cancellation.py"
WINDOW = "tests/llm/test_limits.py"
CHARTS = "tests/drawing/test_calibration_figures.py"

MUTANTS = (
    # the five that the method's page names
    Mutant("accept always", "posterior/acceptance.py", "return log_alpha >= 0 or", "return True or", ACCEPTANCE),
    Mutant(
        "weights not reset",
        "inference/sequential_monte_carlo.py",
        "replace(particles[a], log_weight=0.0, parent=int(a))",
        "replace(particles[a], parent=int(a))",
        LITERAL,
    ),
    Mutant(
        "ancestors shuffled",
        "inference/sequential_monte_carlo.py",
        "ancestors = systematic_resample(weights, u=u)",
        "ancestors = systematic_resample(weights, u=u)[::-1]",
        LITERAL,
    ),
    Mutant("beta inverted", "posterior/weights.py", "return log_lik / beta", "return log_lik * beta", LITERAL),
    Mutant("off-by-one buffer", "problem.py", "return tuple(rows[-size:])", "return tuple(rows[-size - 1 :])", LITERAL),
    # the accept step
    Mutant(
        "ratio inverted",
        "posterior/acceptance.py",
        "log_lik_proposal - log_lik)",
        "log_lik - log_lik_proposal)",
        ACCEPTANCE,
    ),
    Mutant(
        "ratio not capped",
        "posterior/acceptance.py",
        "return min(0.0, log_lik_proposal",
        "return (log_lik_proposal",
        ACCEPTANCE,
    ),
    Mutant(
        "u compared with the logarithm",
        "posterior/acceptance.py",
        "math.log(u or 5e-324) < log_alpha",
        "u < log_alpha",
        ACCEPTANCE,
    ),
    Mutant(
        "one u for all slots",
        "inference/deciding.py",
        '"accept", chain.step, chain.slot)',
        '"accept", chain.step, 0)',
        LITERAL,
    ),
    Mutant("rejected text kept", "inference/deciding.py", "if accepted else _kept(candidate)", "", LITERAL),
    Mutant(
        "parent decided untempered",
        "inference/deciding.py",
        "log_acceptance(exponent * log_lik_new, exponent * log_lik)",
        "log_acceptance(exponent * log_lik_new, log_lik)",
        VARIANTS,
    ),
    Mutant(
        "tempering left out of the decision",
        "inference/tempered.py",
        "ancestors, exponent=exponent)",
        "ancestors)",
        EVIDENCE,
    ),
    Mutant(
        "sides of the ratio on different rows",
        "inference/metropolis_hastings.py",
        "await decide(candidate, chain.rows)",
        "await decide(candidate, chain.batch)",
        VARIANTS,
    ),
    # weights
    Mutant("constant not taken off", "posterior/weights.py", "np.exp(log_w - peak)", "np.exp(log_w)", WEIGHTS),
    Mutant("weights not normalised", "posterior/weights.py", "w / w.sum(), dtype", "w, dtype", WEIGHTS),
    Mutant(
        "all impossible gives nothing",
        "posterior/weights.py",
        "np.full(log_w.size, 1 / log_w.size)",
        "np.zeros(log_w.size)",
        WEIGHTS,
    ),
    Mutant("ESS of squares", "posterior/weights.py", "np.square(w).sum())", "w.sum())", WEIGHTS),
    Mutant(
        "resampling at the threshold",
        "inference/sequential_monte_carlo.py",
        "reweighted.ess < config",
        "reweighted.ess <= config",
        LITERAL,
    ),
    Mutant("beta a step late", "settings.py", "* step / (steps - 1)", "* step / steps", LITERAL),
    # resampling
    Mutant(
        "cumulative sum not clamped",
        "posterior/resampling.py",
        "cumulative[np.flatnonzero(w)[-1] :] = np.inf",
        "pass",
        RESAMPLING,
    ),
    Mutant("the weightless copied", "posterior/resampling.py", 'side="right"', 'side="left"', RESAMPLING),
    Mutant(
        "pointers not spread",
        "posterior/resampling.py",
        "(np.arange(n) + u) / n",
        "np.sort((np.arange(n) * 0 + u))",
        RESAMPLING,
    ),
    Mutant(
        "predictions left behind",
        "inference/sequential_monte_carlo.py",
        "log_weight=0.0, parent=int(a)) for a in ancestors)",
        "log_weight=0.0, parent=int(a), predictions=particles[k].predictions) for k, a in enumerate(ancestors))",
        PARTICLES,
    ),
    Mutant(
        "log-likelihood left behind",
        "inference/sequential_monte_carlo.py",
        "log_weight=0.0, parent=int(a)) for a in ancestors)",
        "log_weight=0.0, parent=int(a), log_likelihood=particles[k].log_likelihood) for k, a in enumerate(ancestors))",
        PARTICLES,
    ),
    # tempering
    Mutant(
        "exponent's sign",
        "posterior/tempering.py",
        "log_w + (exponent - previous) * ll",
        "log_w - (exponent - previous) * ll",
        TEMPERING,
    ),
    Mutant(
        "whole exponent each step", "posterior/tempering.py", "(exponent - previous) * ll", "exponent * ll", TEMPERING
    ),
    Mutant(
        "ESS of the step alone",
        "posterior/tempering.py",
        "log_w = carried_log_weights(log_weights, log_lik, exponent=exponent",
        "log_w = carried_log_weights(np.zeros(np.size(log_weights)), log_lik, exponent=exponent",
        TEMPERING,
    ),
    Mutant(
        "logarithm of the ESS",
        "posterior/tempering.py",
        "return ess(normalise(log_w)) >= target",
        "return math.log(ess(normalise(log_w))) >= target",
        TEMPERING,
    ),
    Mutant(
        "bisection turned round",
        "posterior/tempering.py",
        "(middle, high) if enough(middle)",
        "(low, middle) if enough(middle) else (middle, high) if False",
        TEMPERING,
    ),
    Mutant(
        "sum for mean", "posterior/tempering.py", "np.exp(log_w - peak).mean()", "np.exp(log_w - peak).sum()", TEMPERING
    ),
    Mutant(
        "evidence forgotten at a reset",
        "inference/tempered.py",
        "log_evidence += log_mean_weight",
        "log_evidence = log_mean_weight",
        VARIANTS,
    ),
    Mutant(
        "evidence not kept",
        "inference/tempered.py",
        "exponent=exponent, log_evidence=log_evidence",
        "exponent=exponent",
        EVIDENCE,
    ),
    Mutant(
        "exponent not kept",
        "inference/tempered.py",
        "particles=mutating.particles, exponent=exponent",
        "particles=mutating.particles, exponent=0.0",
        EVIDENCE,
    ),
    Mutant("mutation unfiltered", "settings.py", " or self.is_telescoping", "", EVIDENCE),
    Mutant(
        "last exponent not reached", "inference/tempered.py", "if step == steps - 1:", "if step == steps:", VARIANTS
    ),
    # proposals and mutation
    Mutant(
        "median is bold",
        "inference/mutating.py",
        "particle.log_likelihood >= median",
        "particle.log_likelihood > median",
        LITERAL,
    ),
    Mutant(
        "temperatures swapped",
        "inference/mutating.py",
        "config.cautious_temperature if at_least else config.bold",
        "config.bold_temperature if at_least else config.bold",
        LITERAL,
    ),
    Mutant(
        "first copy rewritten too",
        "inference/mutating.py",
        "in (ancestors or ())[:k]",
        "in (ancestors or ())[: k + 1]",
        VARIANTS,
    ),
    Mutant(
        "one seed for all slots",
        "inference/proposing.py",
        '"propose", chain.step, chain.slot)',
        '"propose", chain.step, 0)',
        LITERAL,
    ),
    Mutant(
        "restart by the particle",
        "inference/proposing.py",
        '"restart", chain.step, chain.slot)',
        '"restart", chain.step, len(particle.text))',
        VARIANTS,
    ),
    Mutant(
        "memory not inherited",
        "inference/proposing.py",
        "history=(particle.exchange,) if particle.exchange else ()",
        "history=()",
        VARIANTS,
    ),
    Mutant(
        "stale predictions shown",
        "inference/proposing.py",
        "if all(row.id in known for row in chain.batch)",
        "if any(row.id in known for row in chain.batch)",
        PARTICLES,
    ),
    # the population's size
    Mutant(
        "grows when all agree",
        "inference/resizing.py",
        "agreed_for=population.agreed_for + 1 if agreed else 0",
        "agreed_for=0",
        RESIZING,
    ),
    Mutant(
        "grows past its bound", "inference/resizing.py", "min(2 * size, config.particles_max)", "2 * size", RESIZING
    ),
    Mutant(
        "budget not asked",
        "inference/resizing.py",
        "if not config.growth_budget:",
        "if True:",
        RESIZING,
    ),
    Mutant(
        "shrinks on a shared mistake",
        "inference/resizing.py",
        ">= likelihood.usual_term",
        ">= -1e9",
        RESIZING,
    ),
    Mutant(
        "changes K at the last step",
        "inference/resizing.py",
        "if step + 1 < problem.steps and population.agreed_for",
        "if population.agreed_for",
        RESIZING,
    ),
    Mutant(
        "weights kept after shrinking",
        "inference/resizing.py",
        "population.particles[a], log_weight=0.0)",
        "population.particles[a])",
        RESIZING,
    ),
    Mutant(
        "shrinks whatever the weights",
        "inference/resizing.py",
        "systematic_resample(population.weights, u=u",
        "systematic_resample([1.0] * population.size, u=u",
        RESIZING,
    ),
    Mutant(
        "restarts by likelihood",
        "inference/proposing.py",
        "< config.restart",
        "< config.restart * (0.9 if (particle.log_likelihood or 0) < -9 else 1)",
        VARIANTS,
    ),
    Mutant(
        "nearly all restarts are enough",
        "inference/evidence.py",
        "config.restart < 1",
        "config.restart < 0.9",
        EVIDENCE,
    ),
    Mutant("unreadable draws kept", "inference/drawing.py", "if proposal.text is not None:", "if True:", VARIANTS),
    Mutant(
        "a continued run draws anew",
        "inference/drawing.py",
        "if config.draws_initial and not problem.start_texts:",
        "if config.draws_initial:",
        "tests/inference/test_continued.py",
    ),
    Mutant(
        "noise counted as information",
        "posterior/information.py",
        "entropy(w @ p) - w @ entropy(p)",
        "entropy(w @ p)",
        "tests/posterior/test_information.py",
    ),
    Mutant("error mass not shared", "problem.py", 'n_wrong if error_mass == "shared" else 1', "1", VARIANTS),
    # prediction and likelihood
    Mutant(
        "wrong mass swapped",
        "posterior/likelihood.py",
        "self._right, self._wrong).astype",
        "self._wrong, self._right).astype",
        "tests/posterior/test_likelihood.py",
    ),
    Mutant(
        "tau multiplies",
        "posterior/likelihood.py",
        "/ (2 * self.tau)",
        "* (2 * self.tau)",
        "tests/posterior/test_likelihood.py",
    ),
    Mutant(
        "abstention is right",
        "posterior/likelihood.py",
        "p is not None and p == y",
        "p is None or p == y",
        "tests/posterior/test_likelihood.py",
    ),
    Mutant(
        "votes unweighted", "posterior/prediction.py", "+ float(weight)", "+ 1.0", "tests/posterior/test_prediction.py"
    ),
    Mutant(
        "highest label of a tie",
        "posterior/prediction.py",
        "if share >= most - TIE), key=str)",
        "if share >= most - TIE), key=str, reverse=True)",
        "tests/posterior/test_prediction.py",
    ),
    Mutant(
        "last weights on old texts",
        "settings.py",
        'self.final_weights != "paper"',
        "False",
        "tests/inference/test_evaluation.py",
    ),
    # what is asked ahead of its turn
    Mutant("no bound on the lead", "inference/ahead.py", "if step - LEAD >= first:", "if False:", AHEAD),
    Mutant(
        "a chain waits for its turn",
        "inference/ahead.py",
        "self._reached[step - LEAD].wait()",
        "self._reached[step].wait()",
        AHEAD,
    ),
    Mutant(
        "chains count at once",
        "inference/ahead.py",
        "with self._transactions[step].opened():",
        "if True:",
        AHEAD,
    ),
    Mutant(
        "what a step owes is not settled",
        "inference/ahead.py",
        "        self._transactions[step].commit()\n",
        "",
        AHEAD,
    ),
    Mutant(
        "tasks outlive the run",
        "inference/ahead.py",
        "await cancel(self._tasks)",
        "pass",
        CANCELLATION,
    ),
    Mutant(
        "a task's failure waits for the step's end",
        "inference/ahead.py",
        "            self._failure.set_result(failure)",
        "            pass",
        CANCELLATION,
    ),
    Mutant(
        "chains wait for one another",
        "inference/ahead.py",
        "problem.steps - 1 if config.may_run_ahead else step",
        "step",
        AHEAD,
    ),
    Mutant(
        "chains ahead though K changes",
        "settings.py",
        "return not self.particles_max and self.points_per_call == 1",
        "return self.points_per_call == 1",
        AHEAD,
    ),
    Mutant(
        "rewritten particles wait to be scored",
        "inference/ahead.py",
        "                self._ask(outcome.particle.text, rows)",
        "                pass",
        AHEAD,
    ),
    Mutant("the next scores count at once", "inference/ahead.py", ", rows), transaction.context())", ", rows))", AHEAD),
    Mutant(
        "the next scores are never counted",
        "inference/ahead.py",
        "            transaction.commit()\n",
        "",
        AHEAD,
    ),
    Mutant("a loser's guess goes on", "inference/ahead.py", "            task.cancel()\n", "", AHEAD),
    Mutant("a loser's guess is kept", "inference/ahead.py", "            transaction.rollback()\n", "", AHEAD),
    Mutant(
        "guesses go on until the next step",
        "inference/ahead.py",
        "        self._keep(outcome.particle.text)\n",
        "",
        AHEAD,
    ),
    Mutant(
        "the loser is kept",
        "inference/ahead.py",
        "self._asked.keys() - {hypothesis}",
        "{hypothesis} & self._asked.keys()",
        AHEAD,
    ),
    Mutant(
        "a guess counts at once",
        "inference/ahead.py",
        ", self._next_rows), transaction.context())",
        ", self._next_rows))",
        AHEAD,
    ),
    Mutant(
        "guesses whatever the room",
        "inference/ahead.py",
        " or not self._problem.has_room()",
        "",
        AHEAD,
    ),
    Mutant(
        "rejected by what is answered",
        "inference/scoring.py",
        "np.full(len(rows) - len(answered), likelihood.largest_term)",
        "np.zeros(0) - 1.0",
        EARLY,
    ),
    Mutant(
        "rows unanswered are waited for",
        "inference/scoring.py",
        "if is_whole or not is_open(bound):",
        "if is_whole:",
        EARLY,
    ),
    Mutant(
        "rows unanswered are asked to the end",
        "inference/scoring.py",
        "await cancel(asked)",
        "await cancel(())",
        EARLY,
    ),
    Mutant(
        "a pledge is not told of",
        "llm/shared_answers.py",
        "ahead.transaction.commit()",
        "ahead.transaction.rollback()",
        AHEAD,
    ),
    Mutant(
        "needed, and dropped by another",
        "llm/shared_answers.py",
        "not self._ahead[question].claims and question not in self._requests",
        "question not in self._requests",
        AHEAD,
    ),
    Mutant(
        "dropped while it may be joined",
        "llm/shared_answers.py",
        "not self._ahead[question].claims and question not in self._requests",
        "not self._ahead[question].claims",
        AHEAD,
    ),
    Mutant(
        "answers of a lost guess remembered",
        "llm/shared_answers.py",
        "            self._answers.pop(question, None)\n",
        "",
        AHEAD,
    ),
    Mutant("a guess that fails has failed", "llm/counters.py", 'NEEDED | {"failed"}', "NEEDED", AHEAD),
    # how many calls a server is sent
    Mutant("a round trip halves often", "llm/limits.py", "            self._cut_at = now\n", "", WINDOW),
    Mutant("quartile for median", "llm/limits.py", "[COHORT // 2]", "[COHORT // 4]", WINDOW),
    # what is read off a run
    Mutant(
        "rows of one call are calls of their own",
        "runs/estimate.py",
        "view.n_unique * rows / spec.config.points_per_call",
        "view.n_unique * rows",
        "tests/runs/test_estimate.py",
    ),
    Mutant("bar without its dot", "drawing/calibration_figures.py", "[high - each.accuracy for", "[high for", CHARTS),
    Mutant(
        "name of the line on the curve",
        "drawing/calibration_figures.py",
        "10 if max(curve.risk[: curve.rows_at(0.25)]) <= curve.area_random else -10",
        "-10 if max(curve.risk[: curve.rows_at(0.25)]) <= curve.area_random else 10",
        CHARTS,
    ),
    Mutant(
        "infinite log scores count as 0",
        "inspection/reliability.py",
        "/ len(finite) if finite",
        "/ len(logs) if finite",
        "tests/inspection/test_points.py",
    ),
    Mutant(
        "bound of log alpha untempered",
        "inspection/ruled_out.py",
        "tempered = 1.0 if self.exponent is None else self.exponent",
        "tempered = 1.0",
        "tests/inspection/test_ruled_out.py",
    ),
    Mutant(
        "half of the voices are nearly all",
        "wording/verdicts.py",
        "NEARLY_ALIKE = 0.95",
        "NEARLY_ALIKE = 0.5",
        "tests/wording/test_words.py",
    ),
    Mutant(
        "the best on test is chosen",
        "runs/summary.py",
        "train.index(best(train))",
        "test.index(best(test))",
        "tests/runs/test_summary.py",
    ),
    Mutant(
        "beta for the exponent of the evidence",
        "runs/summary.py",
        '"exponent": 1 / made[-1].beta',
        '"exponent": made[-1].beta',
        "tests/runs/test_summary.py",
    ),
    Mutant(
        "accept never",
        "posterior/acceptance.py",
        "return log_alpha >= 0 or math.log(u or 5e-324) < log_alpha",
        "return False",
        LITERAL,
    ),
    Mutant(
        "text left behind",
        "inference/sequential_monte_carlo.py",
        "log_weight=0.0, parent=int(a)) for a in ancestors)",
        "log_weight=0.0, parent=int(a), text=particles[k].text) for k, a in enumerate(ancestors))",
        LITERAL,
    ),
    Mutant(
        "weights accumulated",
        "inference/sequential_monte_carlo.py",
        "log_w = tempered_log_weights(log_likelihoods(particles), beta=beta)",
        "log_w = tempered_log_weights(log_likelihoods(particles), beta=beta) + [p.log_weight for p in particles]",
        LITERAL,
    ),
    Mutant(
        "multinomial resampling",
        "posterior/resampling.py",
        "(np.arange(n) + u) / n",
        "np.sort(np.random.default_rng(int(u * 2**32)).random(n))",
        LITERAL,
    ),
    Mutant(
        "buffer without the batch",
        "problem.py",
        "for earlier in range(step, -1, -1):",
        "for earlier in range(max(step - 1, 0), -1, -1):",
        LITERAL,
    ),
    Mutant(
        "buffer emptied each epoch",
        "problem.py",
        "for earlier in range(step, -1, -1):",
        "for earlier in range(step, step - step % self.steps_per_epoch - 1, -1):",
        LITERAL,
    ),
    Mutant(
        "same batches each epoch",
        "problem.py",
        "epoch, index = divmod(step, self.steps_per_epoch)",
        "epoch, index = 0, step % self.steps_per_epoch",
        LITERAL,
    ),
)


def fate(mutant: Mutant, *, within_s: float = WITHIN_S) -> Fate:
    """What the tests make of the mutant. Raises RuntimeError where they could not be run."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for part in ("vpp", "tests", "assets"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        (tree / "vpp" / mutant.module).write_text(mutant.spoiled(), encoding="utf-8")
        words = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests.split()]
        try:
            done = subprocess.run(
                [sys.executable, *words],
                cwd=tree,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                check=False,
                timeout=within_s,
            )
        except subprocess.TimeoutExpired:
            return "timed out"
    if done.returncode not in (0, FAILED):
        raise RuntimeError(
            f"{mutant.name}: pytest ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return "caught" if done.returncode == FAILED else "SURVIVES"


def untouched(tests: str) -> Mutant:
    """No fault at all: tests that fail without one catch nothing."""
    return Mutant("no fault", "posterior/acceptance.py", "import math\n", "import math\n", tests)


def main() -> int:
    """Prints a line a mutant; exit code 1 where one survives. One that ends no more is caught, too."""
    survivors = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        all_tests = list(dict.fromkeys(mutant.tests for mutant in MUTANTS))
        for tests, found in zip(all_tests, pool.map(fate, map(untouched, all_tests)), strict=True):
            if found != "SURVIVES":
                print(f"without a fault, {tests} must pass within {WITHIN_S} s: run it, and mend what fails first")
                return 1
        for mutant, found in zip(MUTANTS, pool.map(fate, MUTANTS), strict=True):
            print(f"{found:9}  {mutant.name}", flush=True)
            survivors += [mutant.name] if found == "SURVIVES" else []
    print(f"{len(MUTANTS) - len(survivors)} of {len(MUTANTS)} mutants caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
