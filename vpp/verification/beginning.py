"""The beginning: run_started, run.json and data.csv are of one run."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from vpp.events import RunStarted
from vpp.verification.chapters import Told
from vpp.verification.ground import Ground
from vpp.verification.ledger import At, Ledger

FILES = At(line=0)


def check_data(ground: Ground, ledger: Ledger) -> None:
    """data.csv is as run.json says."""
    dataset = ground.spec.dataset
    if "fingerprint" in dataset:
        ledger.compare("data", FILES, "data.csv", written=ground.fingerprint, follows=dataset["fingerprint"])
    else:
        ledger.skip("data.csv: run.json is older than its fingerprint")
    for name, rows in (("n_train", ground.dataset.train), ("n_test", ground.dataset.test)):
        if name in dataset:
            ledger.compare("data", FILES, name, written=len(rows), follows=dataset[name])


def check_started(ground: Ground, told: Told[RunStarted], ledger: Ledger) -> None:
    """Options, columns, seed sentence, T and templates are those of run.json."""
    event, at, spec = told.event, At(line=told.line), ground.spec
    config = asdict(ground.config)
    options = {name: config.get(name) for name in event.config}  # an older journal knows fewer
    ledger.compare("data", at, "config", written=event.config, follows=options)
    ledger.compare("data", at, "dataset", written=_plain(event.dataset), follows=_plain(spec.dataset))
    ledger.compare("data", at, "steps", written=event.steps, follows=ground.problem.steps)
    ledger.compare("texts", at, "seed_text", written=event.seed_text, follows=ground.problem.seed_text)
    model = "demo" if spec.endpoint.demo else spec.endpoint.model
    models = {"learner": model, "optimizer": spec.endpoint.optimizer_model or model}
    ledger.compare("data", at, "models", written=event.models, follows=models)
    for role, text in spec.templates.items():
        if text is not None and role in event.templates:
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            ledger.compare("data", at, f"template of {role}", written=event.templates[role], follows=sha256)


def _plain(value: Any) -> Any:
    """As JSON has it."""
    return json.loads(json.dumps(value))
