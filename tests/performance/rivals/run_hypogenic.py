# ruff: noqa: E402
"""HypoGeniC on a table, in its own environment: `python run_hypogenic.py TABLE.json BASE_URL default|tuned K`."""

import json
import os
import sys
import tempfile
import types
from pathlib import Path

import sklearn.metrics  # noqa: F401 before the stand-ins: it looks at torch where there is one
import yaml

# Its module for servers imports these for models of one's own, which nothing here uses.
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch"].manual_seed = lambda seed: None
sys.modules["transformers"] = types.ModuleType("transformers")
for _name in ("LlamaForCausalLM", "LlamaTokenizer", "LlamaConfig", "AutoModelForCausalLM", "AutoTokenizer", "pipeline"):
    setattr(sys.modules["transformers"], _name, None)

from hypogenic.algorithm.generation import DefaultGeneration
from hypogenic.algorithm.inference import DefaultInference
from hypogenic.algorithm.replace import DefaultReplace
from hypogenic.algorithm.update import DefaultUpdate
from hypogenic.LLM_wrapper import llm_wrapper_register
from hypogenic.prompt import BasePrompt
from hypogenic.tasks import BaseTask
from hypogenic.utils import set_seed

MODEL = "gpt-4o-mini"
"""It counts costs of models that it knows."""
CONCURRENT = 256
TASK = {
    "task_name": "rows",
    "train_data_path": "rows.json",
    "test_data_path": "rows.json",
    "val_data_path": "rows.json",
    "prompt_templates": {
        "observations": "${text}\nLabel: ${label}\n\n",
        "batched_generation": {
            "system": "You find rules of a table. New rules are a numbered list of ${num_hypotheses}.",
            "user": "${observations}\nGive new rules as a numbered list of ${num_hypotheses}.",
        },
        "inference": {
            "system": "Say which label the row has by the pattern.\n\nLabels:\n- high\n- low",
            "user": "Pattern: ${hypothesis}\n\n${text}",
        },
    },
}


def label(answer):
    """Of an answer's last line."""
    return answer.rpartition("Output: ")[2].strip()


def main(table, base_url, settings, k):
    """One run: its example script's settings, but for the number of rows."""
    os.environ.update({"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "EMPTY"})
    concurrent = {"max_concurrent": CONCURRENT} if settings == "tuned" else {}
    with tempfile.TemporaryDirectory() as folder:
        columns = {name: [row[name] for row in table] for name in ("text", "label")}
        Path(folder, "rows.json").write_text(json.dumps(columns))
        Path(folder, "config.yaml").write_text(yaml.safe_dump(TASK))
        task = BaseTask(f"{folder}/config.yaml", extract_label=label)
        api = llm_wrapper_register.build("gpt")(model=MODEL)
        set_seed(42)
        rows, _, _ = task.get_data(len(table), 1, 1, 42)
        prompts = BasePrompt(task)
        inference = DefaultInference(api, prompts, rows, task)
        update = DefaultUpdate(
            generation_class=DefaultGeneration(api, prompts, inference, task),
            inference_class=inference,
            replace_class=DefaultReplace(20),
            save_path=folder,
            num_init=10,
            k=k,
            update_batch_size=10,
            num_hypotheses_to_update=1,
            save_every_n_examples=10,
        )
        bank = update.batched_initialize_hypotheses(
            10, init_batch_size=10, init_hypotheses_per_batch=10, temperature=1e-5, max_tokens=1000, **concurrent
        )
        bank = update.update(current_epoch=0, hypotheses_bank=bank, current_seed=42, **concurrent)
        print(json.dumps({"hypotheses": len(bank)}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], sys.argv[3], int(sys.argv[4]))
