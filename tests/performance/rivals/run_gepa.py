"""GEPA on a table, in its own environment: `python run_gepa.py TABLE.json BASE_URL default|tuned CALLS`."""

import json
import os
import sys
from pathlib import Path

os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_API_KEY": "EMPTY"})

from gepa import optimize
from gepa.adapters.default_adapter.default_adapter import DefaultAdapter
from gepa.lm import LM
from gepa.strategies.proposal_sampling import IndependentSampling

WORKERS = 256
SIDE_BY_SIDE = 8


class Batching(DefaultAdapter):
    """Evaluates what is proposed side by side at once: the hook that GEPA has for it."""

    def batch_evaluate(self, items):
        rows = [row for _, batch in items for row in batch]
        prompts = [
            [{"role": "system", "content": next(iter(text.values()))}, {"role": "user", "content": row["input"]}]
            for text, batch in items
            for row in batch
        ]
        answers = iter(self._lm.batch_complete(prompts, max_workers=self.max_litellm_workers))
        asked, self._lm = self._lm, _Said([next(answers) for _ in rows])
        try:
            return [self.evaluate(batch, text, capture_traces=True) for text, batch in items]
        finally:
            self._lm = asked


class _Said:
    """Answers that are there already, in the order in which they were asked for."""

    def __init__(self, answers):
        self._answers = iter(answers)

    def batch_complete(self, prompts, **_):
        return [next(self._answers) for _ in prompts]


def main(table, base_url, settings, calls):
    """One run."""
    asked = "Labels:\n- high\n- low\n\n"  # with the row, for the prompt is what GEPA rewrites
    rows = [{"input": asked + row["text"], "answer": row["label"], "additional_context": {}} for row in table]
    half = len(rows) // 2
    tuned = settings == "tuned"
    adapter = Batching("openai/learner", max_litellm_workers=WORKERS) if tuned else DefaultAdapter("openai/learner")
    adapter._lm = LM("openai/learner", api_base=base_url)
    more = {"sampling_strategy": IndependentSampling(SIDE_BY_SIDE)} if tuned else {}
    result = optimize(
        seed_candidate={"system_prompt": "Say which label the row has."},
        trainset=rows[:half],
        valset=rows[half:],
        adapter=adapter,
        reflection_lm=LM("openai/optimizer", api_base=base_url),
        max_metric_calls=calls,
        **more,
    )
    print(json.dumps({"candidates": len(result.candidates), "metric_calls": result.total_metric_calls}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], sys.argv[3], int(sys.argv[4]))
