"""GEPA and HypoGeniC on the rows of a finished run: `make rivals BASE_URL=… MODEL=… RUN=…`.

They get the run's training rows as its prompts show them, and at least as many calls as the run made; then the text
that they end with answers the test rows. Their prompts are ours. HypoGeniC's defaults need 400 calls: it has a bank of
5 hypotheses and k = 2.
"""

import argparse
import json
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai

from vpp.data.dataset import Dataset, Row
from vpp.llm.prompts import render_input
from vpp.runs.directory import RunDirectory, RunReader

IN_FLIGHT = 64
K, BANK, FIRST, BATCH = 2, 5, 10, 10
"""HypoGeniC's k, its hypotheses at most, and the training rows that its first hypotheses and later ones come from."""
Conversation = list[dict[str, str]]


class Model:
    """A model on an OpenAI-compatible server. temperature: None for the server's own."""

    def __init__(self, base_url: str, name: str, *, temperature: float | None, max_tokens: int) -> None:
        self._api = openai.OpenAI(base_url=base_url, api_key="EMPTY", timeout=3600)
        self._options: dict[str, Any] = {"model": name, "max_tokens": max_tokens}
        self._options |= {} if temperature is None else {"temperature": temperature}
        self.calls = 0

    def __call__(self, prompt: str | Conversation) -> str:
        return self.batch_complete([[{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt])[0]

    def batch_complete(self, conversations: Sequence[Conversation], **_: object) -> list[str]:
        """Answer several conversations, in their order. Raises OpenAIError."""
        self.calls += len(conversations)
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            return list(pool.map(self._complete, conversations))

    def _complete(self, messages: Conversation) -> str:
        messages = [{"role": each["role"], "content": each["content"]} for each in messages]
        return self._api.chat.completions.create(messages=messages, **self._options).choices[0].message.content or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    dataset: Dataset
    calls: int
    """Calls that the run made."""
    learner: Model
    optimizer: Model

    @property
    def task(self) -> str:
        target, labels = self.dataset.target, ", ".join(self.dataset.classes)
        return f"A row of a table is given; the label is its {target}. Labels: {labels}."

    @property
    def n_calls(self) -> int:
        return self.learner.calls + self.optimizer.calls

    def label(self, answer: str) -> str:
        """Return the label that an answer names last; empty if it names none."""
        places = {label: answer.rfind(label) for label in self.dataset.classes}
        last = max(places, key=lambda label: (places[label], len(label)))
        return last if places[last] >= 0 else ""

    def accuracy(self, conversation: Callable[[Row], Conversation]) -> float:
        """Answer the test rows; return the share of right ones."""
        rows = self.dataset.test
        answers = self.learner.batch_complete([conversation(row) for row in rows])
        return sum(self.label(answer) == row.target for answer, row in zip(answers, rows, strict=True)) / len(rows)


def gepa(job: Job) -> tuple[float, int, str]:
    """Rewrite one prompt, half of the training rows to learn and half to choose; return accuracy, calls and prompt."""
    from gepa import optimize
    from gepa.adapters.default_adapter.default_adapter import DefaultAdapter, EvaluationResult

    def judge(row: dict[str, Any], answer: str) -> Any:
        label, right = job.label(answer), row["answer"]
        return EvaluationResult(float(label == right), f"It gives {label!r}; the correct label is {right!r}.")

    adapter = DefaultAdapter(job.learner, evaluator=judge)
    adapter._lm = job.learner
    train = job.dataset.train
    rows = [{"input": render_input(row), "answer": row.target, "additional_context": {}} for row in train]
    half = len(rows) // 2
    seed = {"system_prompt": f"{job.task} Say which label the row has."}
    options = {"trainset": rows[:half], "valset": rows[half:], "max_metric_calls": job.calls}
    result = optimize(seed_candidate=seed, adapter=adapter, reflection_lm=job.optimizer, **options)
    calls, prompt = job.n_calls, result.best_candidate["system_prompt"]
    opening = {"role": "system", "content": prompt}
    return job.accuracy(lambda row: [opening, {"role": "user", "content": render_input(row)}]), calls, prompt


class HypogenicApi:
    """Stands in for HypoGeniC's client of a server; the same model writes and reads hypotheses."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def generate(self, messages: Conversation, max_tokens: int = 500, **_: object) -> str:
        return self.job.optimizer(messages)

    def batched_generate(self, messages: list[Conversation], max_tokens: int = 500, **_: object) -> list[str]:
        """Answer several conversations; `max_tokens` tells new hypotheses from labels."""
        return (self.job.optimizer if max_tokens > 500 else self.job.learner).batch_complete(messages)


def stand_in_for_other_servers() -> None:
    """Let HypoGeniC be imported without what its modules for other servers and models need."""
    import sklearn.metrics  # noqa: F401  before the stand-ins: it looks at torch where there is one

    names = ("LlamaForCausalLM", "LlamaTokenizer", "LlamaConfig", "AutoModelForCausalLM", "AutoTokenizer", "pipeline")
    names += ("AsyncAnthropic", "Anthropic", "Redis", "manual_seed")
    for module in ("torch", "transformers", "anthropic", "redis", "pulp"):
        sys.modules[module] = types.ModuleType(module)
        for name in names:
            setattr(sys.modules[module], name, lambda *_, **__: None)


def hypogenic_prompts(job: Job) -> dict[str, Any]:
    listed = "a numbered list of ${num_hypotheses} rules, one a line"
    return {
        "observations": "${text}\nLabel: ${label}\n\n",
        "batched_generation": {
            "system": f"You find rules that give the label of a row. {job.task}",
            "user": f"Rows:\n${{observations}}\nGive {listed}, and nothing else.",
        },
        "inference": {
            "system": f"Say which label the row has by the pattern. {job.task} End with the label.",
            "user": "Pattern: ${hypothesis}\n\n${text}",
        },
    }


def hypogenic(job: Job) -> tuple[float, int, str]:
    """Keep a bank of hypotheses, epoch by epoch within the calls; return accuracy, calls and the best hypothesis."""
    stand_in_for_other_servers()
    import pandas as pd
    import yaml
    from hypogenic.algorithm.generation import DefaultGeneration
    from hypogenic.algorithm.inference import DefaultInference
    from hypogenic.algorithm.replace import DefaultReplace
    from hypogenic.algorithm.update import DefaultUpdate
    from hypogenic.prompt import BasePrompt
    from hypogenic.tasks import BaseTask
    from hypogenic.utils import set_seed

    api, train = HypogenicApi(job), job.dataset.train
    with tempfile.TemporaryDirectory() as folder:
        columns = {"text": [render_input(row) for row in train], "label": [row.target for row in train]}
        Path(folder, "rows.json").write_text(json.dumps(columns))
        paths = {f"{part}_data_path": "rows.json" for part in ("train", "test", "val")}
        config = {"task_name": "rows", **paths, "prompt_templates": hypogenic_prompts(job)}
        Path(folder, "config.yaml").write_text(yaml.safe_dump(config))
        task = BaseTask(f"{folder}/config.yaml", extract_label=job.label)
        set_seed(42)
        rows, _, _ = task.get_data(len(train), 1, 1, 42)
        prompt = BasePrompt(task)
        inference = DefaultInference(api, prompt, rows, task)
        update = DefaultUpdate(
            generation_class=DefaultGeneration(api, prompt, inference, task),
            inference_class=inference,
            replace_class=DefaultReplace(BANK),
            save_path=folder,
            num_init=FIRST,
            k=K,
            update_batch_size=BATCH,
            num_hypotheses_to_update=1,
            save_every_n_examples=10**9,
        )
        bank = update.batched_initialize_hypotheses(
            FIRST, init_batch_size=BATCH, init_hypotheses_per_batch=3, temperature=1e-5, max_tokens=1000
        )
        epoch = 0
        while epoch == 0 or job.n_calls + K * len(train) / 2 < job.calls:
            bank = update.update(current_epoch=epoch, hypotheses_bank=bank, current_seed=42)
            epoch += 1
        calls, best = job.n_calls, max(bank, key=lambda text: bank[text].acc)

        def conversation(row: Row) -> Conversation:
            return prompt.inference({best: bank[best]}, pd.DataFrame([{"text": render_input(row), "label": ""}]), 0)

        return job.accuracy(conversation), calls, best


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.models.rivals")
    parser.add_argument("run", type=Path, help="a finished run of a classification")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    directory = RunDirectory(options.run)
    dataset, usage = directory.dataset(), RunReader(directory).refresh().usage
    for name, learn, warmth in (("GEPA", gepa, None), ("HypoGeniC", hypogenic, 0.7)):
        learner = Model(options.base_url, options.model, temperature=0, max_tokens=128)
        optimizer = Model(options.base_url, options.model, temperature=warmth, max_tokens=512)
        job = Job(dataset=dataset, calls=usage.learner + usage.optimizer, learner=learner, optimizer=optimizer)
        accuracy, calls, text = learn(job)
        print(f"{name}: {accuracy:.0%} of {len(dataset.test)} test rows right after {calls} calls: {text}", flush=True)


if __name__ == "__main__":
    main()
