# ruff: noqa: E402
"""HypoGeniC on a job of `on_suite`: `python hypogenic_on_rows.py JOB.json`; the last line is the result as JSON."""

import json
import sys
import tempfile
import types
from pathlib import Path

import pandas as pd
import sklearn.metrics  # noqa: F401 before the stand-ins: it looks at torch where there is one
import yaml

# Its modules for other servers and models import these, which nothing here uses.
STAND_INS = {
    "torch": (),
    "transformers": ("LlamaForCausalLM", "LlamaTokenizer", "LlamaConfig", "AutoModelForCausalLM", "AutoTokenizer"),
    "anthropic": ("AsyncAnthropic", "Anthropic"),
    "redis": (),
    "pulp": (),
}
for _module, _names in STAND_INS.items():
    sys.modules[_module] = types.ModuleType(_module)
    for _name in (*_names, "pipeline", "Redis"):
        setattr(sys.modules[_module], _name, lambda *_, **__: None)
sys.modules["torch"].manual_seed = lambda seed: None

from client import Client, accuracy, last_label
from hypogenic.algorithm.generation import DefaultGeneration
from hypogenic.algorithm.inference import DefaultInference
from hypogenic.algorithm.replace import DefaultReplace
from hypogenic.algorithm.update import DefaultUpdate
from hypogenic.prompt import BasePrompt
from hypogenic.tasks import BaseTask
from hypogenic.utils import set_seed

K, BANK, FIRST = 10, 20, 10


class Api:
    """What HypoGeniC asks: one model for both roles."""

    def __init__(self, job):
        self.learner = Client(job, temperature=0)
        self.writer = Client(job, temperature=0.7, max_tokens=512)

    def generate(self, messages, max_tokens=500, **_):
        """Answer one conversation: hypotheses are asked for one by one."""
        return self.writer(messages)

    def batched_generate(self, messages, max_tokens=500, **_):
        """Answer several conversations; `max_tokens` tells new hypotheses from labels."""
        client = self.writer if max_tokens > 500 else self.learner
        return client.batch_complete(messages)

    @property
    def calls(self):
        """Calls of both clients."""
        return self.learner.calls + self.writer.calls


def prompts(job):
    """Its prompts, with this table's labels."""
    asked = f"{job['about']} Labels: {', '.join(job['labels'])}."
    listed = "a numbered list of ${num_hypotheses} rules, one a line"
    return {
        "observations": "${text}\nLabel: ${label}\n\n",
        "batched_generation": {
            "system": f"You find rules that give the label of a row. {asked}",
            "user": "Rows:\n${observations}\nGive " + listed + ", and nothing else.",
        },
        "inference": {
            "system": f"Say which label the row has by the pattern. {asked} End with the label.",
            "user": "Pattern: ${hypothesis}\n\n${text}",
        },
    }


def main(job):
    """Ask the best hypotheses about the training rows, epoch by epoch within the calls; then the test rows."""
    labels, api = job["labels"], Api(job)
    with tempfile.TemporaryDirectory() as folder:
        columns = {name: [row[name] for row in job["train"]] for name in ("text", "label")}
        Path(folder, "rows.json").write_text(json.dumps(columns))
        paths = {f"{part}_data_path": "rows.json" for part in ("train", "test", "val")}
        config = {"task_name": "rows", **paths, "prompt_templates": prompts(job)}
        Path(folder, "config.yaml").write_text(yaml.safe_dump(config))
        task = BaseTask(f"{folder}/config.yaml", extract_label=lambda answer: last_label(answer, labels))
        set_seed(42)
        rows, _, _ = task.get_data(len(job["train"]), 1, 1, 42)
        asking = BasePrompt(task)
        inference = DefaultInference(api, asking, rows, task)
        update = DefaultUpdate(
            generation_class=DefaultGeneration(api, asking, inference, task),
            inference_class=inference,
            replace_class=DefaultReplace(BANK),
            save_path=folder,
            num_init=FIRST,
            k=K,
            update_batch_size=10,
            num_hypotheses_to_update=1,
            save_every_n_examples=10**9,
        )
        bank = update.batched_initialize_hypotheses(
            FIRST, init_batch_size=10, init_hypotheses_per_batch=10, temperature=1e-5, max_tokens=1000
        )
        epoch = 0
        while epoch == 0 or api.calls + K * len(rows) / 2 < job["calls"]:
            bank = update.update(current_epoch=epoch, hypotheses_bank=bank, current_seed=42)
            epoch += 1
        calls = {"learner": api.learner.calls, "optimizer": api.writer.calls}
        best = max(bank, key=lambda text: bank[text].acc)
        test = pd.DataFrame(job["test"])
        asked = [asking.inference({best: bank[best]}, test, place) for place in range(len(test))]
        answers = api.learner.batch_complete(asked)
    print(json.dumps({"test": accuracy(answers, job["test"], labels), "calls": calls, "epochs": epoch, "text": best}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
