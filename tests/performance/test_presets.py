import asyncio
from dataclasses import asdict, replace

from pages.parts.opening import SHIPPED
from tests.example import prepare_shipped
from tests.performance import presets
from tests.performance.in_process import Known, run
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader


def test_a_run_in_one_process_equals_the_shipped_run_of_a_worker_with_a_server():
    prepared = prepare_shipped()
    shipped = RunReader(RunDirectory(SHIPPED)).refresh()
    view, usage = shipped.view, shipped.usage

    finished = asyncio.run(run(prepared.dataset, prepared.config, Known()))

    assert finished.texts == tuple(view.texts[state.hypothesis] for state in view.population)
    assert finished.test == view.evaluated["test"]
    assert finished.train == view.evaluated["train"]
    assert (finished.learner_calls, finished.optimizer_calls) == (usage.learner, usage.optimizer)


CELL = presets.Cell(
    table="rare", setting="", seed=0, options={}, demo=presets.VERSION, is_label=True,
    test=0.9, train=0.9, simple=1.0, learner=10, optimizer=1, seconds=0.1,
)  # fmt: skip


def test_an_interrupted_comparison_goes_on_after_its_last_whole_line(tmp_path, monkeypatch, capsys):
    file, ran = tmp_path / "runs.jsonl", []

    def cell(table, setting, dataset, config, known):
        ran.append(setting)
        return replace(CELL, setting=setting, options=asdict(config))

    monkeypatch.setattr(presets, "_cell", cell)
    words = [
        "--tables",
        "rare",
        "--settings",
        "recommended",
        "filtered, B=40",
        "--seeds",
        "1",
        "--save",
        str(file),
    ]
    presets.main(words)
    whole, shown = file.read_text(), capsys.readouterr().out
    file.write_text(whole[:-40])

    presets.main(words)

    assert ran == ["recommended", "filtered, B=40", "filtered, B=40"]
    assert file.read_text() == whole
    assert capsys.readouterr().out == shown


def test_a_run_that_is_kept_counts_for_every_setting_with_its_options():
    options = asdict(presets.config_of("recommended", 0))
    named = replace(CELL, setting="filtered, B=60, distinct, train", options=options)
    (cell,) = presets.measured("rare", ["recommended"], 0, {named.key: named})
    assert cell.setting == "recommended"
