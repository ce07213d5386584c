"""Faults planted one at a time in the samplers and in figures of a run: `make mutants`. A test must catch each.

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
"""Longest time for the tests of one fault; they usually take a few seconds."""
Fate = Literal["caught", "timed out", "SURVIVES"]


@dataclass(frozen=True)
class Mutant:
    name: str
    module: str
    passage: str
    instead: str
    tests: str

    def source(self) -> str:
        """Source of the module with its fault. Raises ValueError unless the passage occurs exactly once."""
        source = (ROOT / "vpp" / self.module).read_text(encoding="utf-8")
        if source.count(self.passage) != 1:
            raise ValueError(
                f"{self.name}: {self.passage!r} stands {source.count(self.passage)} times in {self.module}"
            )
        return source.replace(self.passage, self.instead)


ACCEPTANCE = "tests/posterior/test_weights.py tests/inference/test_evidence.py"
LITERAL = "tests/inference/test_transcription.py"
WEIGHTS = "tests/posterior/test_weights.py"
EVIDENCE = "tests/inference/test_evidence.py"
VARIANTS = "tests/inference/test_variants.py"
AHEAD = "tests/inference/test_ahead.py"
CALLS = "tests/inference/test_calls.py"
WINDOW = "tests/llm/test_limits.py"

PLANTED: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {
    ("posterior/weights.py", ACCEPTANCE): (
        ("accept always", "return log_alpha >= 0 or", "return True or"),
        ("ratio inverted", "log_lik_proposal - log_lik)", "log_lik - log_lik_proposal)"),
        ("ratio not capped", "return min(0.0, log_lik_proposal", "return (log_lik_proposal"),
        ("u compared with the logarithm", "math.log(u or 5e-324) < log_alpha", "u < log_alpha"),
    ),
    ("inference/sequential_monte_carlo.py", LITERAL): (
        ("weights not reset", "replace(particles[a], log_weight=0.0, parent=int", "replace(particles[a], parent=int"),
        ("ancestors shuffled", "= systematic_resample(weights, u=u)", "= systematic_resample(weights, u=u)[::-1]"),
        ("resampling at the threshold", "reweighted.ess < ESS_SHARE", "reweighted.ess <= ESS_SHARE"),
        ("text left behind", "a)) for a in ancestors", "a), text=particles[k].text) for k, a in enumerate(ancestors)"),
        ("log-likelihood left behind",
         "parent=int(a)) for a in ancestors)",
         "parent=int(a), log_likelihood=particles[k].log_likelihood) for k, a in enumerate(ancestors))"),
        ("weights accumulated", "particles), beta=beta)", "particles), beta=beta) + [p.log_weight for p in particles]"),
        ("median is bold", "particle.log_likelihood >= median", "particle.log_likelihood > median"),
        ("predictions left behind",
         "log_weight=0.0, parent=int(a)) for a in ancestors)",
         "log_weight=0.0, parent=int(a), predictions=particles[k].predictions) for k, a in enumerate(ancestors))"),
        ("temperatures swapped", "CAUTIOUS_TEMPERATURE if at_least else", "BOLD_TEMPERATURE if at_least else"),
    ),
    ("posterior/weights.py", LITERAL): (
        ("beta inverted", "return log_lik / beta", "return log_lik * beta"),
        ("accept never", "return log_alpha >= 0 or math.log(u or 5e-324) < log_alpha", "return False"),
        ("multinomial resampling",
         "(np.arange(w.size) + u) / w.size",
         "np.sort(np.random.default_rng(int(u * 2**32)).random(w.size))"),
    ),
    ("problem.py", LITERAL): (
        ("off-by-one buffer", "return tuple(rows[-size:])", "return tuple(rows[-size - 1 :])"),
        ("buffer without the batch", "earlier in range(step, -1, -1):", "earlier in range(max(step - 1, 0), -1, -1):"),
        ("buffer emptied each epoch", "range(step, -1, -1)", "range(step, step - step % self.steps_per_epoch - 1, -1)"),
        ("same batches each epoch", "= divmod(step, self.steps_per_epoch)", "= 0, step % self.steps_per_epoch"),
    ),
    ("inference/tempered.py", EVIDENCE): (
        ("tempering left out of the decision", "(particles, rows, exponent=exponent)", "(particles, rows)"),
        ("evidence not kept", "exponent=exponent, log_evidence=log_evidence", "exponent=exponent"),
        ("exponent not kept", "mutating.particles, exponent=exponent", "mutating.particles, exponent=0.0"),
    ),
    ("inference/metropolis_hastings.py", VARIANTS): (
        ("sides of the ratio on different rows", "decide(candidate, chain.rows)", "decide(candidate, chain.batch)"),
        ("parent in slot 0", "theta.settled(chain.slot)", "theta.settled(0)"),
    ),
    ("posterior/weights.py", WEIGHTS): (
        ("constant not taken off", "w = np.exp(log_w - peak)", "w = np.exp(log_w)"),
        ("weights not normalised", "w / w.sum(), dtype", "w, dtype"),
        ("all impossible gives nothing", "np.full(log_w.size, 1 / log_w.size)", "np.zeros(log_w.size)"),
        ("ESS of squares", "np.square(w).sum())", "w.sum())"),
        ("cumulative sum not clamped", "cumulative[np.flatnonzero(w)[-1] :] = np.inf", "pass"),
        ("the weightless copied", 'side="right"', 'side="left"'),
        ("pointers not spread", "(np.arange(w.size) + u) / w.size", "np.sort((np.arange(w.size) * 0 + u))"),
        ("exponent's sign", "log_w + (exponent - previous) * ll", "log_w - (exponent - previous) * ll"),
        ("whole exponent each step", "(exponent - previous) * ll", "exponent * ll"),
        ("ESS of the step alone", "(log_weights, log_lik", "(np.zeros(np.size(log_weights)), log_lik"),
        ("logarithm of the ESS", "ess(normalise(log_w)) >= target", "math.log(ess(normalise(log_w))) >= target"),
        ("bisection turned round",
         "(middle, high) if enough(middle)",
         "(low, middle) if enough(middle) else (middle, high) if False"),
        ("sum for mean", "np.exp(log_w - peak).mean()", "np.exp(log_w - peak).sum()"),
    ),
    ("settings.py", LITERAL): (
        ("beta a step late", "* step / (steps - 1)", "* step / steps"),
    ),
    ("inference/tempered.py", VARIANTS): (
        ("evidence forgotten at a reset", "log_evidence += log_mean_weight", "log_evidence = log_mean_weight"),
        ("last exponent not reached", "if step == steps - 1:", "if step == steps:"),
    ),
    ("settings.py", EVIDENCE): (
        ("mutation unfiltered", "\"filtered\" or self.is_telescoping", "\"filtered\""),
    ),
    ("inference/proposing.py", LITERAL): (
        ("one u for all slots", '"accept", chain.step, chain.slot)', '"accept", chain.step, 0)'),
        ("rejected text kept", "new.particle if accepted else chain.particle", "new.particle"),
        ("stale predictions shown", "if all(row.id in known for row in rows", "if any(row.id in known for row in rows"),
        ("one seed for all slots", '"propose", chain.step, chain.slot)', '"propose", chain.step, 0)'),
    ),
    ("inference/proposing.py", VARIANTS): (
        ("restart by the particle", '"restart", chain.step, chain.slot)', '"restart", chain.step, len(particle.text))'),
        ("parent decided untempered", "exponent * log_lik_new, exponent * log_lik", "exponent * log_lik_new, log_lik"),
        ("mistakes fill a batch", "[: -(-len(batch) // 2)]", "[: len(batch)]"),
        ("restarts by likelihood",
         "< config.restart",
         "< config.restart * (0.9 if (particle.log_likelihood or 0) < -9 else 1)"),
    ),
    ("inference/sampling.py", VARIANTS): (
        ("unreadable draws kept", "if proposal.text is not None:", "if True:"),
        ("a continued run draws anew", "given = problem.start_texts", "given = problem.start_texts[:0]"),
    ),
    ("posterior/disagreement.py", "tests/posterior/test_prediction.py"): (
        ("noise counted as information", "entropy(w @ p) - w @ entropy(p)", "entropy(w @ p)"),
    ),
    ("problem.py", VARIANTS): (
        ("a given error mass is shared", "(epsilon=epsilon)", "(epsilon=epsilon, n_shares=2)"),
    ),
    ("posterior/likelihood.py", "tests/posterior/test_likelihood.py"): (
        ("wrong mass swapped", "right, wrong).astype", "wrong, right).astype"),
        ("tau multiplies", "/ (2 * self.tau)", "* (2 * self.tau)"),
        ("abstention is right", "p is not None and p == y", "p is None or p == y"),
        ("the prior of the noise left out", " - _log_beta(*ERROR_PRIOR)", ""),
        ("graded error free of charge", "(1 - share) * self.epsilon / self.n_shares", "0.0"),
        ("graded error not shared", "(1 - share) * self.epsilon / self.n_shares", "(1 - share) * self.epsilon"),
    ),
    ("inference/sequential_monte_carlo.py", "tests/inference/test_evaluation.py"): (
        ("each copy counts", " - np.log([copies[text] for text in texts])", ""),
    ),
    ("posterior/prediction.py", "tests/posterior/test_prediction.py"): (
        ("votes unweighted", "shares.get(vote, 0.0) + float(weight)", "shares.get(vote, 0.0) + 1.0"),
        ("highest label of a tie", "share >= most - TIE), key=str)", "share >= most - TIE), key=str, reverse=True)"),
        ("grades unweighted", "float(weight) * probability", "probability"),
    ),
    ("llm/learner.py", "tests/llm/test_grading.py"): (
        ("letters of other labels", "dict.fromkeys(LETTERS[:n], 0.0)", "dict.fromkeys(LETTERS[1 : n + 1], 0.0)"),
    ),
    ("settings.py", "tests/inference/test_evaluation.py"): (
        ("last weights on old texts", 'self.final_weights != "paper"', "False"),
    ),
    ("inference/ahead.py", AHEAD): (
        ("no bound on the lead", "if step - LEAD >= first:", "if False:"),
        ("a chain waits for its turn", "self._reached[step - LEAD].wait()", "self._reached[step].wait()"),
        ("chains wait for one another", "self._begun_to = problem.steps - 1", "self._begun_to = step"),
        ("tasks outlive the run", "await cancel(self._tasks)", "pass"),
        ("a task's failure waits for the step's end", "self._failure.set_result(failure)", "pass"),
        ("rewritten particles wait to be scored", "            self.ask_next(chain, outcome.particle.text)\n", ""),
    ),
    ("inference/metropolis_hastings.py", CALLS): (
        ("the parent's next forward pass waits", "(chain, chain.particle.text, candidate", "(chain, candidate"),
    ),
    ("llm/limits.py", WINDOW): (
        ("a round trip halves often", "            self._cut_at = ", "            _ = "),
    ),
    ("findings/verdict.py", "tests/findings/test_verdict.py"): (
        ("a better simple model is no reason", "and difference.mean > 0 and", "and difference.mean < 0 and"),
        ("sure and wrong is no warning", "elif found.judgement == SURER:", "elif False:"),
    ),
    ("findings/result.py", "tests/findings/test_verdict.py"): (
        ("beta for the exponent of the evidence", '"exponent": 1 / made[-1].beta', '"exponent": made[-1].beta'),
    ),
    ("posterior/calibration.py", "tests/posterior/test_conformal.py"): (
        ("threshold a rank too low", "[self.rank - 1] if", "[self.rank - 2] if"),
    ),
    ("posterior/metric.py", "tests/posterior/test_metric.py"): (
        ("the rows themselves left out of p", "range(few + 1)", "range(few)"),
    ),
    ("inference/plan.py", "tests/inference/test_calls.py tests/runs/test_estimate.py"): (
        ("a last short batch unplanned", "-(-n_pool(config, n_train) // config", "(n_pool(config, n_train) // config"),
    ),
    ("llm/endpoint.py", "tests/llm/test_cache.py tests/llm/test_endpoint.py"): (
        ("cache key without the address", '{"address": address, "model": self.model,', '{"model": self.model,'),
        ("a retry too many", "else strikes + 1", "else strikes + (tries > 1)"),
    ),
    ("data/split.py", "tests/data/test_split.py"): (
        ("seats to the smallest remainder", "counts[stratum]), reverse=True)", "counts[stratum]))"),
    ),
    ("answers.py", "tests/llm/test_answers.py"): (
        ("thinking cut at its first end", "max((match.end() for", "min((match.end() for"),
    ),
    ("runs/directory.py", "tests/runs/test_journal.py"): (
        ("a torn line stays", 'if line.endswith(b"\\n"))', ")"),
        ("answers that a resume made void", "if step != reader.view.total_steps", "if False"),
    ),
    ("runs/spec.py", "tests/runs/test_store.py"): (
        ("headers to any address", "own.headers if canonical(endpoint.base_url) == home else ()", "own.headers"),
    ),
    ("findings/comparison.py", "tests/findings/test_comparison.py"): (
        ("losses of rows in another order", "[losses[row.id] for row in one.rows]", "other.losses"),
    ),
    ("findings/points.py", "tests/findings/test_points.py"): (
        ("abstentions not behind", "+ (0.0 if self.mixture.noise else self.abstained)", "+ 0.0"),
    ),
    ("findings/points.py", "tests/reporting/test_predictions.py"): (
        ("low and high exchanged", "low, high = point.interval", "high, low = point.interval"),
    ),
    ("show/markup.py", "tests/show/test_words.py"): (
        ("quotes not escaped", "quote=True", "quote=False"),
    ),
    ("show/words.py", "tests/show/test_words.py"): (
        ("nearly all read as 100 %", "fraction not in (0, 1)", "fraction < MAJORITY and fraction != 0"),
    ),
    ("reporting/predictions.py", "tests/reporting/test_predictions.py"): (
        ("a formula in the header", "map(safe_cell, (row_column,", "map(str, (row_column,"),
    ),
    ("cli/stored.py", "tests/verification/test_verify.py tests/cli/test_commands.py"): (
        ("faults end with 0", "0 if found.holds else 1", "0"),
    ),
    ("cli/system.py", "tests/cli/test_bad_input.py"): (
        (".env before the environment", "{**dotenv(), **os.environ}", "{**os.environ, **dotenv()}"),
    ),
    ("programs/sandbox.py", "tests/programs/test_source.py"): (
        ("no answer is a yes", ".get(text, False)", ".get(text, True)"),
    ),
    ("programs/source.py", "tests/programs/test_source.py"): (
        ("branches from 1", "ast.Constant(value=len(branches) - 1)", "ast.Constant(value=len(branches))"),
    ),
}  # fmt: skip
"""(Name, passage, what stands in its place) of each fault, by module of vpp and the tests that must catch it."""
MUTANTS = tuple(
    Mutant(name, module, passage, instead, tests)
    for (module, tests), faults in PLANTED.items()
    for name, passage, instead in faults
)


def fate(mutant: Mutant, *, within_s: float = WITHIN_S) -> Fate:
    """Result of the mutant's tests. Raises RuntimeError if they could not run."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        others = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
        shutil.copytree(ROOT, tree, ignore=others, dirs_exist_ok=True)
        (tree / "vpp" / mutant.module).write_text(mutant.source(), encoding="utf-8")
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


def no_fault(tests: str) -> Mutant:
    """A mutant without a fault: tests that fail on it catch nothing."""
    return Mutant("no fault", "posterior/weights.py", "import math\n", "import math\n", tests)


def main() -> int:
    """Print a line for each mutant; exit code 1 if one is not caught: a test must see in time that a call hangs."""
    survivors = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        all_tests = list(dict.fromkeys(mutant.tests for mutant in MUTANTS))
        for tests, found in zip(all_tests, pool.map(fate, map(no_fault, all_tests)), strict=True):
            if found != "SURVIVES":
                print(f"without a fault, {tests} must pass within {WITHIN_S} s: run it, and mend what fails first")
                return 1
        for mutant, found in zip(MUTANTS, pool.map(fate, MUTANTS), strict=True):
            print(f"{found:9}  {mutant.name}", flush=True)
            survivors += [mutant.name] if found != "caught" else []
    print(f"{len(MUTANTS) - len(survivors)} of {len(MUTANTS)} mutants caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
