"""Going on from a run's particles with rows answered since: what is carried over, what begins anew."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.special import betaln

from tests import inspected
from tests.processes import PENGUINS, Desk, Model, Outcome, beside_the_constant
from tests.reporting import builders
from vpp.cli import main
from vpp.data.dataset import Row
from vpp.demo.server import SURE
from vpp.errors import InputError, RunError
from vpp.events import INITIAL_STEP, hypothesis_id
from vpp.findings.asking import going_on_words
from vpp.findings.result import summary
from vpp.inference.plan import plan
from vpp.library.posterior import Posterior
from vpp.llm.prompts import seed_sentence
from vpp.reporting.exports import data_tree, parameters
from vpp.runs.directory import RunDirectory, RunReader
from vpp.runs.preparation import Preparation, continue_run, read_sentences, spec_to_continue
from vpp.runs.spec import RunSpec
from vpp.settings import Config
from vpp.show.markup import lines, one_line
from vpp.show.words import percent

ANSWERED = tuple(Row(id=0, inputs=(("a", cell),), target=target) for cell, target in (("20", "yes"), ("21", "no")))


def test_a_new_run_has_the_particles_the_rows_and_the_options(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    prepared = continue_run(reader.directory, ANSWERED)
    assert prepared.spec.start == inspected.LABEL_SLOTS
    assert prepared.spec.started_from == reader.directory.id
    # training rows 0 to 3 and test rows 4 to 9 of the file; the answered ones come after
    assert [(row.id, row.target) for row in prepared.dataset.train] == [
        (0, "yes"), (1, "no"), (2, "yes"), (3, "no"), (10, "yes"), (11, "no"),
    ]  # fmt: skip
    assert prepared.dataset.test == reader.dataset().test
    assert prepared.spec.config == replace(inspected.LABEL_CONFIG, final_weights="train")
    assert prepared.dataset.provenance.notes[-1] == (
        "answered by a person to go on from run 20260110-1432-toy-smc-7f3a: rows 10 to 11"
    )
    assert prepared.spec.name == "toy + 2 rows"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"method": "smc"}, {"particles": 4, "final_weights": "train"}),
        ({"method": "smc", "tempering": "adaptive"}, {"particles": 4, "final_weights": "train"}),
        ({"method": "mh"}, {"particles": 4, "final_weights": "rescored"}),
        ({"method": "vml5"}, {"particles": 10, "final_weights": "rescored"}),
    ],
)
def test_k_is_the_number_of_texts_and_last_weights_are_on_all_rows(options, expected, tmp_path: Path) -> None:
    config, view = Config(**{"final_weights": "rescored", **options}), inspected.labels(tmp_path).refresh().view
    spec = RunSpec(name="", config=config, endpoint=builders.DEMO)
    assert spec_to_continue(spec, view, run="r", name="").config == replace(config, **expected)


def test_a_run_without_particles_cannot_be_gone_on_from(tmp_path: Path) -> None:
    reader = builders.run(tmp_path, data=inspected.LABELS, config=inspected.LABEL_CONFIG)
    with pytest.raises(RunError, match="has no particles yet"):
        continue_run(reader.directory, ANSWERED)


def test_the_demo_model_goes_on_from_a_run_and_counts_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))
    sizes = ("--train-size", "12", "--test-size", "5", "--batch-size", "6", "--particles", "3", "--epochs", "1")
    first, second = tmp_path / "runs" / "first", tmp_path / "runs" / "second"
    run = ("run", str(PENGUINS), "--target", "species", "--demo", *sizes, "--run-dir", str(first), "--quiet", "--json")
    assert main(run) == 0
    earlier = RunReader(RunDirectory(first))
    columns = earlier.dataset().inputs
    rows = tmp_path / "rows.csv"
    cells = {"island": "Dream", "sex": "male"}
    lines = [",".join([*(cells.get(name, "190") for name in columns), target]) for target in ("Chinstrap", "")]
    rows.write_text("\n".join([",".join([*columns, "species"]), *lines]))
    capsys.readouterr()
    assert main(("continue", str(first), str(rows), "--run-dir", str(second), "--json")) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "finished"
    assert "1 of 2 rows have no target and were left out" in err
    later = RunReader(RunDirectory(second))
    view, before = later.refresh().view, earlier.refresh().view
    first_texts = [state.hypothesis for state in view.steps[INITIAL_STEP].population]
    assert first_texts == [state.hypothesis for state in before.population]
    assert view.usage.optimizer == 3 * view.total_steps  # 13 rows in batches of 6: 3 steps, and no first draw
    assert view.total_steps == 3
    ids = [row.id for row in later.dataset().train]
    assert ids == [*(row.id for row in earlier.dataset().train), 344]  # the file has 344 rows, 0 to 343
    assert [list(scored.rows) for scored in view.final_scores.values()] == [ids] * 3
    assert view.evaluations["test"].rows == before.evaluations["test"].rows
    assert {hypothesis_id(text) for text in later.refresh().spec.start} == set(first_texts)


# A person's own sentences: first hypotheses of a run, and a list that is weighed


ABOVE_4, ABOVE_7 = (f"If x is greater than {n}, answer yes; otherwise answer no." for n in (4, 7))
HOSTILE = "Always answer no. <img src=x onerror=alert(1)> **bold** [link](javascript:alert(1))"
LABELS = {1: "no", 2: "no", 3: "no", 4: "no", 5: "yes", 6: "yes", 7: "yes", 8: "no", 9: "yes", 10: "yes"}
ROWS = len(LABELS)
SEED_TEXT = seed_sentence(inspected.LABELS)


@pytest.fixture
def desk(tmp_path: Path):
    desk = Desk(tmp_path)
    (tmp_path / "table.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in LABELS.items()))
    yield desk
    desk.close()


def weigh(desk: Desk, name: str, *sentences: str, options: tuple[str, ...] = ("--demo", "--reading=rows")) -> Any:
    (desk.folder / "mine.txt").write_text("\n\n".join(sentences))
    words = ("weigh", "table.csv", "--target", "y", "--start", "mine.txt", "--run-dir", name, "--json", "--quiet")
    return desk.start(*words, *options)


def prepared(*start: str, prior: tuple[float, ...] = (), **options: Any) -> Preparation:
    config = Config(**{"particles": 3, "batch_size": 2, **options})
    spec = RunSpec(name="", config=config, endpoint=builders.DEMO, start=start, start_prior=prior)
    return Preparation(dataset=inspected.LABELS, spec=spec)


def test_weights_by_log_probabilities_are_those_of_the_demo_models_known_ones(desk: Desk) -> None:
    sentences, options = (ABOVE_4, ABOVE_7, HOSTILE), ("--demo", "--likelihood=logprobs", "--noise=0.1")
    found = weigh(desk, "run", *sentences, options=options).finish().result
    above = {ABOVE_4: 4, ABOVE_7: 7, HOSTILE: len(LABELS)}
    log_lik = []
    for sentence in sentences:
        shares = [SURE if (x > above[sentence]) == (label == "yes") else 1 - SURE for x, label in LABELS.items()]
        log_lik.append(math.fsum(math.log(0.9 * share + 0.1 * (1 - share)) for share in shares))
    joint = [math.exp(each) / 3 for each in log_lik]
    assert found["log_likelihoods"] == pytest.approx(log_lik, rel=1e-12)
    assert found["log_evidence"] == pytest.approx(math.log(math.fsum(joint)), rel=1e-12)
    assert beside_the_constant(found) == pytest.approx([each / math.fsum(joint) for each in joint], rel=1e-12)
    assert (found["evidence"]["label"], found["calls"]["learner"]) == ("exact", 3 * ROWS)
    assert desk.vpp("verify", "run").code == 0


def test_a_continued_run_weighs_the_sentences_anew_on_all_rows(desk: Desk) -> None:
    weigh(desk, "run", ABOVE_4, ABOVE_7, options=("--demo", "--prior=1,3")).finish()
    (desk.folder / "more.csv").write_text("x,y\n11,yes\n12,\n0,yes\n")
    outcome = desk.vpp("continue", "run", "more.csv", "--run-dir=next", "--json")
    assert "1 of 3 rows have no target and were left out" in outcome.err
    found = outcome.result
    # Of 12 rows, 8 and 0 are wrong by the first sentence, 5 to 8 and 0 by the second.
    log_lik = [inspected.log_marginal(12 - wrong, wrong) for wrong in (2, 5)]
    joint = [share * math.exp(each) for share, each in zip((0.25, 0.75), log_lik, strict=True)]
    assert found["log_likelihoods"] == pytest.approx(log_lik, rel=1e-12)
    assert found["log_evidence"] == pytest.approx(math.log(math.fsum(joint)), rel=1e-12)
    assert beside_the_constant(found) == pytest.approx([each / math.fsum(joint) for each in joint], rel=1e-12)
    assert (found["evidence"]["label"], found["calls"]["optimizer"]) == ("exact", 0)
    assert desk.vpp("verify", "next").code == 0


def test_a_run_begins_with_the_sentences_and_draws_the_others(desk: Desk) -> None:
    (desk.folder / "mine.txt").write_text(f"{ABOVE_7}\n{ABOVE_4}\n")
    words = ("run", "table.csv", "--target=y", "--start=mine.txt", "--particles=3", "--batch-size=3", "--epochs=1")
    evidenced = ("--tempering=incremental", "--demo", "--json", "--quiet")
    outcome = desk.vpp(*words, *evidenced, "--run-dir=run")
    snapshot = desk.look("run")
    assert [(each.origin, bool(each.raw)) for each in snapshot.view.draws.values()] == [
        ("yours", False), ("yours", False), ("drawn", True),
    ]  # fmt: skip
    assert outcome.result["log_evidence"]["label"] == "nominal"
    assert desk.vpp("verify", "run").code == 0


def test_the_plan_is_a_call_a_sentence_and_row() -> None:
    spec = prepared("one", "two", "one", method="weigh", reading="rows").spec
    n = len(inspected.LABELS.train)
    whole = plan(spec.config, n_train=n, n_test=0, given=len(spec.start))
    assert (whole.calls, whole.least_calls, whole.optimizer_calls, whole.rounds) == (2 * n, 2 * n, 0, 1)
    by_program = plan(replace(spec.config, reading="program"), n_train=n, n_test=0, given=2)
    assert (by_program.calls, by_program.least_calls, by_program.rounds) == (2 + 2 * min(8, n), 2, 2)
    words = going_on_words(prepared("a", "b", method="weigh"), n_added=1)
    assert "has 1 training row more, 4 in all. It weighs them anew." in words.replace("\N{NO-BREAK SPACE}", " ")


def test_a_sentence_may_begin_with_the_seed_sentence() -> None:
    assert prepared(f"{SEED_TEXT} one", "one", "two").spec.start == (f"{SEED_TEXT} one", f"{SEED_TEXT} two")


@pytest.mark.parametrize(
    ("start", "options", "words"),
    [
        (("a", "b", "c", "d"), {}, "4 sentences to start from, and K is 3: give fewer, or a larger K"),
        ((), {"method": "weigh"}, "no sentences to weigh: give them, one a line (--start FILE)"),
        (("a", "b" * 10_000), {}, "sentence 2 has 10,000 characters: shorten it to at most 4,000"),
        (("a", " "), {}, "sentence 2 is empty"),
        *(
            (("a", "b"), {"method": "weigh", "prior": prior}, "prior: give a positive number for each sentence")
            for prior in ((1.0,), (1.0, 0.0), (1.0, -1.0), (1.0, math.inf), (1.0, math.nan))
        ),
    ],
)
def test_sentences_that_cannot_be_used_are_refused_in_one_line(start, options, words) -> None:
    with pytest.raises(InputError) as refused:
        prepared(*start, **options)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_sentences_has_one_a_line() -> None:
    assert read_sentences(" one \n\n[two]\n", name="f") == ("one", "[two]")
    with pytest.raises(InputError, match="f has no sentence"):
        read_sentences("\n \n", name="f")
    with pytest.raises(InputError, match="f begins with a bracket, as JSON does: write a sentence a line"):
        read_sentences('["one", "two"]', name="f")


# Prior weights of sentences; the last sentence is the first again

SIZES = (4, 7, 8, 9, 2, 7, 1, 4, 9, 2, 8, 5)
THREE = (
    "Say yes if a is above 6, else no.",
    "Say yes if a is above 3, else no.",
    "The label is <script>alert(1)</script> **always** [yes](x).",
)


def weigh_three(desk: Desk, served: Model, *words: str) -> Outcome:
    lines = (f"{a},{a % 3},{'yes' if a > 6 else 'no'}\n" for a in SIZES)
    (desk.folder / "table.csv").write_text("a,b,y\n" + "".join(lines))
    options = ("--reading=rows", "--no-cache", *served.options, *words)
    return weigh(desk, "weighed", *THREE, THREE[0], options=options).finish()


@pytest.mark.parametrize(("words", "prior"), [((), (1 / 3, 1 / 3, 1 / 3)), (("--prior=1,2,5",), (1 / 8, 2 / 8, 5 / 8))])
def test_weights_and_evidence_are_the_sum_over_the_list(
    words: tuple[str, ...], prior: tuple[float, ...], desk: Desk, served: Model
) -> None:
    outcome = weigh_three(desk, served, *words)
    assert outcome.code == 0, outcome.err
    # By the rules, 12 rows are right, 9, and the 6 that say yes.
    log_liks = [inspected.log_marginal(right, 12 - right) for right in (12, 9, 6)]
    joint = [share * math.exp(each) for share, each in zip(prior, log_liks, strict=True)]
    evidence = math.log(sum(joint))
    assert beside_the_constant(outcome.result) == pytest.approx([each / sum(joint) for each in joint])
    assert outcome.result["log_likelihoods"] == pytest.approx(log_liks)
    assert outcome.result["log_evidence"] == pytest.approx(evidence)
    # Half of the prior is the constant's: the labels as often as they occur, their shares integrated out.
    constant = outcome.result["constant"]
    assert constant["log_likelihood"] == pytest.approx(betaln(6 + 1, 6 + 1), rel=1e-12)
    odds = math.exp(constant["log_likelihood"] - evidence)
    assert constant["weight"] / (1 - constant["weight"]) == pytest.approx(odds, rel=1e-9)
    assert outcome.result["evidence"]["label"] == "exact"
    assert outcome.result["calls"]["optimizer"] == 0
    assert outcome.result["calls"]["learner"] == served.answered == 36
    assert desk.vpp("verify", desk.folder / "weighed").code == 0
    report = (desk.folder / "weighed" / "report.md").read_text()
    assert f"{'The given' if words else 'Equal'} prior weights times the likelihood of all 12 rows; a " in report
    directory = desk.directory("weighed")
    notes = RunReader(directory).dataset().provenance.notes
    assert "of the sentences, these repeat earlier ones and count once: 4" in notes
    content = json.loads((directory.path / "posterior.json").read_text())
    of_particles = [each["prior"] for each in content["particles"]]
    of_sentences = dict(zip(outcome.result["sentences"], prior, strict=True))
    assert outcome.result["priors"] == of_particles == pytest.approx(list(prior))
    assert data_tree(RunReader(directory)).sample_stats.prior.values[0] == pytest.approx(prior)
    priors = parameters(directory.spec(), RunReader(directory).refresh().view)["priors"]
    assert [float(each) for each in priors.split(", ")] == pytest.approx(list(prior), rel=1e-5)
    held = {each.text: each.prior for each in Posterior(directory).particles}
    assert held == pytest.approx(of_sentences)
    terminal = " ".join(lines(summary(directory, RunReader(directory).refresh().view)))
    for share in prior:
        facts = one_line(f"prior {percent(share)}")
        assert (facts in report.lower(), f", {facts} " in str(Posterior(directory))) == (True, True)
        assert one_line(percent(share, 1)) in terminal
    assert "alert(1)" in report
    assert "<script>" not in report.replace("\\<script>", "")


def test_a_changed_prior_is_found_by_verify(desk: Desk, served: Model) -> None:
    assert weigh_three(desk, served, "--prior=1,2,5").code == 0
    assert "has no test rows" in desk.vpp("baseline", desk.folder / "weighed").complaint
    spec = desk.folder / "weighed" / "run.json"
    spec.write_text(spec.read_text().replace("0.625", "0.5"))
    outcome = desk.vpp("verify", desk.folder / "weighed")
    assert (outcome.code, "log_weight" in outcome.out) == (1, True)
