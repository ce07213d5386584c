"""The report's record of the run: its steps, data, method and calls, and how to repeat it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from vpp.data.dataset import PARTS, Column, Dataset
from vpp.data.labelling import n_answered
from vpp.drawing.figures import resized_words
from vpp.drawing.ledger import log_text
from vpp.runs.budget import cap_words, money
from vpp.runs.reader import Snapshot
from vpp.runs.view import StepView
from vpp.settings import Config, option_docs
from vpp.wording.command import repeat_command, without_credentials
from vpp.wording.counts import cut_columns_sentence, split_text
from vpp.wording.escaping import markdown_code, markdown_quote, markdown_table, markdown_text
from vpp.wording.options import changed_words
from vpp.wording.servers import structured_words
from vpp.wording.status import refused_sentence
from vpp.wording.words import NBSP, fixed, integer, number, seconds


def data(dataset: Dataset, cell_limit: int) -> Iterator[str]:
    """The file, the rows used, the columns, and what was decided on the way. cell_limit: that of the run's spec."""
    yield markdown_table(("of the data", "value"), list(_data_facts(dataset)))
    columns = [_column(column, dataset) for column in dataset.columns]
    yield markdown_table(("column", "kind", "role", "distinct values", "missing cells"), columns, right=(3, 4))
    if dataset.descriptions:
        meanings = [tuple(map(markdown_text, each)) for each in dataset.descriptions.named(dataset.target)]
        yield markdown_table(("column or label", "what it means"), meanings)
    cut = cut_columns_sentence(dataset, cell_limit)
    if notes := [*filter(None, (cut,)), *dataset.provenance.notes]:
        yield "\n".join(f"- {markdown_text(note)}" for note in notes)


def _data_facts(dataset: Dataset) -> Iterator[tuple[str, str]]:
    provenance, names = dataset.provenance, {"train": "training"}
    yield "file", markdown_text(provenance.file)
    yield "SHA-256", markdown_text(provenance.sha256)
    yield "rows in the file", integer(provenance.n_rows)
    if answered := n_answered(dataset):
        yield "answered since", integer(answered)
    parts = (f"{integer(len(rows))} {names.get(part, part)}" for part in PARTS if (rows := dataset.part(part)))
    yield "rows used", f"{integer(len(dataset.labelled))}: {', '.join(parts)}"
    yield "parted", markdown_text(split_text(dataset))
    if dataset.unlabelled:
        yield "kept to be asked about", f"{integer(len(dataset.unlabelled))} without a target"
    unused = max(0, provenance.n_unlabelled - len(dataset.unlabelled))
    yield "left out", f"{integer(unused)} without a target, {integer(provenance.n_left_out)} in no part"
    yield "target", f"{markdown_text(dataset.target)} ({markdown_text(dataset.task)})"
    if dataset.classes:
        yield "labels", markdown_text(", ".join(dataset.classes))


def _column(column: Column, dataset: Dataset) -> tuple[str, ...]:
    role = "target" if column.name == dataset.target else "input" if column.name in dataset.inputs else "not used"
    name, kind = markdown_text(column.name), markdown_text(column.kind)
    return name, kind, role, integer(column.n_distinct), integer(column.n_missing)


def method(snapshot: Snapshot) -> Iterator[str]:
    """Every option, who answered, and the seed sentence."""
    started = snapshot.view.started
    config = snapshot.spec.config
    options = [
        (name, markdown_text(str(getattr(config, name))) or "(none)", markdown_text(doc))
        for name, doc in option_docs().items()
    ]
    yield markdown_table(("option", "value", "what it means"), options)
    changed = changed_words(config, snapshot.spec.dataset["task"])
    if changed:
        yield f"Not as by default: {markdown_text(', '.join(changed))}."
    answering = [(name, markdown_text(value)) for name, value in _answering(snapshot)]
    yield markdown_table(("of the models", "value"), answering)
    if started is None:
        yield "The run has not begun: its seed sentence and its templates are not recorded yet."
    else:
        yield "Every hypothesis begins with the seed sentence:"
        yield markdown_quote(started.seed_text)


def _answering(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    endpoint, started = snapshot.spec.endpoint, snapshot.view.started
    address = "the built-in demo model" if endpoint.demo else without_credentials(endpoint.base_url)
    if endpoint.gguf:
        address = f"llama.cpp on the run's own machine, from the file {PurePath(endpoint.gguf).name}"
    yield "endpoint", address
    if words := structured_words(snapshot.spec):
        yield "structured answers", words
    if endpoint.reasoning_effort:
        yield "thinking effort", endpoint.reasoning_effort
    if endpoint.optimizer_base_url:
        yield "endpoint of the optimizer", without_credentials(endpoint.optimizer_base_url)
    if started is not None:
        for role in ("learner", "optimizer"):
            yield f"model of the {role}", started.models.get(role, "not known")
            yield f"SHA-256 of the {role}'s template", started.templates.get(role, "not known")


def calls(snapshot: Snapshot) -> Iterator[str]:
    """Calls, tokens and time of the run."""
    usage, spec = snapshot.usage, snapshot.spec
    counts = [
        ("learner calls", integer(usage.learner), "re-asks included"),
        ("optimizer calls", integer(usage.optimizer), "re-asks included"),
        ("of these from the cache", integer(usage.cached), ""),
        ("failed", integer(usage.failed), "given up after every retry"),
        ("retried", integer(usage.retried), "extra attempts, not counted above"),
        ("sent to a server", integer(usage.sent), "retries included, none from the cache"),
        ("answers that could not be read", integer(usage.unparsable), ""),
        ("answers refused", integer(usage.refused), "no rule for this table; asked again, up to twice a proposal"),
        ("prompt tokens", integer(usage.prompt_tokens), "as the server counts them"),
        ("completion tokens", integer(usage.completion_tokens), "as the server counts them"),
    ]
    if spec.prices.are_given:
        counts.append(("money", money(usage.cost), "at the prices given"))
    if words := cap_words(spec.cap):
        counts.append(("cap", markdown_text(words), "at which the run pauses"))
    counts.append(("time at work", seconds(snapshot.view.wall_s), "without pauses and interruptions"))
    yield markdown_table(("of the calls", "value", "note"), counts, right=(1,))
    if usage.faults:
        kinds = sorted(usage.faults.items(), key=lambda kind: (-kind[1], kind[0]))
        rows = [(markdown_text(kind), integer(count)) for kind, count in kinds]
        yield markdown_table(("odd replies, retries included", "how many"), rows, right=(1,))
    if refused := refused_sentence(usage):
        yield markdown_text(refused)


def reproduce(snapshot: Snapshot) -> Iterator[str]:
    """The command that repeats the run, and what must be equal for an equal result."""
    command = repeat_command(snapshot.spec)
    yield markdown_code(command.script)
    yield from map(markdown_text, command.notes)
    sha256 = markdown_text(snapshot.spec.dataset["provenance"]["sha256"])
    yield f"Data SHA-256 {sha256}. Equal data, options, answers and versions give an equal run."
    started = snapshot.view.started
    if started is not None:
        versions = (f"{name}{NBSP}{version}" for name, version in started.versions.items())
        yield f"Versions: {markdown_text(', '.join(versions))}."


# Steps


def steps(snapshot: Snapshot) -> Iterator[str]:
    """Table with a line per complete step."""
    whole = [step for step in snapshot.view.finished_steps if step.step >= 0]
    if not whole:
        yield "No step is complete yet."
        return
    config = snapshot.spec.config
    rows = [_step_row(step, config) for step in whole]
    head = tuple(rows[0])
    right = [i for i, name in enumerate(head) if name not in ("resampled", "K changed")]
    yield markdown_table(head, [tuple(row.values()) for row in rows], right=right)
    yield how_to_read(config)


NONE = "–"


def _step_row(step: StepView, config: Config) -> dict[str, str]:
    """Cells of a step by column; the method decides which columns there are."""
    row = {"step": str(step.step)}
    if config.particles_max:
        row |= {"K": str(len(step.scored)), "K changed": resized_words(step) or NONE}
    if config.is_weighted:
        row |= _weight_cells(step, config)
    why = Counter(proposed.why for proposed in step.proposed.values())
    accepted = sum(proposed.accepted for proposed in step.proposed.values())
    return row | {
        "proposed": str(len(step.proposed)),
        "accepted" if config.is_filtered else "taken": str(accepted),
        "unchanged": str(why["unchanged"]),
        "unparsable": str(why["unparsable"]),
    }


def _weight_cells(step: StepView, config: Config) -> dict[str, str]:
    weighed, resampled = step.reweighted, "yes" if step.resampled else NONE
    ess = {"ESS": fixed(weighed.ess) if weighed else NONE, "resampled": resampled}
    if not config.is_telescoping:
        return {"β": fixed(weighed.beta) if weighed else NONE, **ess}
    exponent = number(1 / weighed.beta) if weighed else NONE
    return {"exponent φ": exponent, **ess, "log evidence": log_text(weighed.log_evidence) if weighed else NONE}


def how_to_read(config: Config) -> str:
    """Explanation of the columns for the method."""
    if config.is_weighing:
        return "One step weighs the given sentences on all rows; none is resampled or rewritten."
    accepted = "Accepted are the proposals that the likelihood let through."
    if not config.is_filtered:
        accepted = "Every changed text is taken: there is no filter."
    if config.is_weighted:
        tempering = "β divides the log-likelihood: 10 is flat, 1 is sharp."
        if config.is_telescoping:
            tempering = (
                "The exponent φ = 1/β runs from 0, the first draw, to 1, all the data; weights are carried from step "
                "to step, and the log evidence is nominal."
            )
        return f"{tempering} ESS is that of the weights before resampling. {accepted}"
    if config.size == 1:
        return f"One hypothesis has no weights. {accepted}"
    members = "chains" if config.method == "mh" else "hypotheses"
    return f"The {members} have no weights, so there is no ESS. {accepted}"
