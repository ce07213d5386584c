"""`run`."""

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from vpp.cli.spending import cap_of, prices_of, tell_plan
from vpp.cli.surroundings import environment, keys, read_text
from vpp.cli.tables import form_of, read_table
from vpp.cli.working import work_on
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.recast import with_kinds
from vpp.data.target import guess_note, target_guess
from vpp.errors import InputError
from vpp.gguf.plan import machine_memory
from vpp.llm.budget import NO_CAP
from vpp.llm.choices import GALLERY, ROLES, Role, chosen_templates
from vpp.llm.gallery import check_templates, gallery_text
from vpp.runs.model_file import TIMEOUT_S, check_allowed, endpoint_for
from vpp.runs.preparation import Preparation, check_gate
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config, preset
from vpp.wording.model_file import model_file_words
from vpp.wording.options import unused_words


def run(options: Namespace) -> int:
    """Prepares a run and works it to its end."""
    given = _given(options)
    config = replace(preset(options.preset), **given)
    templates = _templates(options)
    dataset, form = _dataset(options, config)
    preparation = Preparation(
        dataset=dataset,
        config=config,
        endpoint=endpoint_of(options),
        name=options.name,
        learner_template=templates["learner"],
        optimizer_template=templates["optimizer"],
        prior_template=templates["prior"],
        command=tuple(sys.argv[1:]),
        prices=prices_of(options),
        cap=cap_of(options, before=NO_CAP),
    )
    if options.plan:
        _tell_reading(dataset, form, options)
        tell_plan(preparation, stream=sys.stdout)
        return 0
    directory = preparation.create(environment().runs_dir, run_dir=Path(options.run_dir) if options.run_dir else None)
    _tell_reading(dataset, form, options)
    if not options.quiet:
        tell_plan(preparation, stream=sys.stderr)
        print("".join(f"{warning}\n" for warning in check_templates(templates)), end="", file=sys.stderr)
    unused = unused_words(given, config, dataset.task)
    if unused and not options.quiet:
        print(f"not used as things are chosen: {unused}", file=sys.stderr)
    return work_on(directory, options)


def _given(options: Namespace) -> dict[str, Any]:
    """Options of the method that were typed, by name."""
    return {
        name.removeprefix("config."): value
        for name, value in vars(options).items()
        if name.startswith("config.") and value is not None
    }


def _templates(options: Namespace) -> dict[Role, str | None]:
    """The text of each role's template, None for the set `paper`. Raises InputError for a file that cannot be read."""
    usual = chosen_templates(options.templates, is_demo=endpoint_of(options).is_demo, preset=options.preset)
    return {role: _template(getattr(options, f"{role}_template") or usual, role) for role in ROLES}


def _template(said: str, role: Role) -> str | None:
    return gallery_text(said, role) if said in GALLERY else read_text(said)


def _tell_reading(dataset: Dataset, form: str, options: Namespace) -> None:
    """What was decided on the way from the file to its rows; only a run that is not refused gets so far."""
    if not options.quiet:
        print(f"{dataset.provenance.file} is read as: {form}", file=sys.stderr)
        print("".join(f"note: {note}\n" for note in dataset.provenance.notes), end="", file=sys.stderr, flush=True)


def _dataset(options: Namespace, config: Config) -> tuple[Dataset, str]:
    """And how its file was read."""
    table = read_table(options.data, options)
    table = with_kinds(table, dict(options.kind))
    target = options.target or target_guess(table)
    if target is None:
        raise InputError(f"{options.data}: no column looks like a target: name one with --target")
    test = read_table(options.test, options) if options.test else None
    dataset = build_dataset(
        table,
        target=target,
        task=options.task,
        inputs=options.inputs,
        exclude=options.exclude,
        seed=config.seed,
        train_size=options.train_size,
        test_size=options.test_size,
        test_fraction=options.test_fraction,
        test_table=test,
        split=options.split,
        notes=() if options.target else (f"{guess_note(table)}; name another with --target",),
    )
    return dataset, form_of(table.reading)


def endpoint_of(options: Namespace) -> EndpointSpec:
    """What the options, and then the environment, say of the server."""
    env = environment()
    shared: dict[str, Any] = {
        "concurrency": options.concurrency,
        "timeout_s": _timeout_s(options),
        "max_wait_s": options.max_wait,
        "cache": not options.no_cache,
        "structured": options.structured,
        "reasoning_effort": options.reasoning_effort,
        "prefetch": options.prefetch,
        "warm_prefix": options.warm_prefix,
        "context_length": options.context_length,
        "learner_max_tokens": options.learner_max_tokens,
        "optimizer_max_tokens": options.optimizer_max_tokens,
    }
    if options.demo:
        return EndpointSpec(demo=True, demo_latency_ms=options.demo_latency_ms, model="demo", **shared)
    if options.gguf:
        return _of_model_file(options, EndpointSpec(**shared))
    endpoint = EndpointSpec(
        base_url=options.base_url or env.base_url or "",
        model=options.model or env.model or "",
        optimizer_base_url=options.optimizer_base_url or env.optimizer_base_url or "",
        optimizer_model=options.optimizer_model or env.optimizer_model or "",
        **shared,
    )
    check_gate(endpoint, keys().gate)
    return endpoint


def _timeout_s(options: Namespace) -> float:
    if options.timeout is not None:
        return float(options.timeout)
    return TIMEOUT_S if options.gguf else EndpointSpec().timeout_s


def _of_model_file(options: Namespace, asked: EndpointSpec) -> EndpointSpec:
    """Says what was read of the file and how it will be served."""
    check_allowed(keys().model_files)
    endpoint, header, plan = endpoint_for(options.gguf, asked)
    if not getattr(options, "quiet", False):
        print(model_file_words(header, plan, memory_bytes=machine_memory()), file=sys.stderr, flush=True)
    return endpoint
