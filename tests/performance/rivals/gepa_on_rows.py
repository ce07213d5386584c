"""GEPA on a job of `on_suite`: `python gepa_on_rows.py JOB.json`; the last line is the result as JSON."""

import json
import sys
from pathlib import Path

from client import Client, accuracy, last_label
from gepa import optimize
from gepa.adapters.default_adapter.default_adapter import DefaultAdapter, EvaluationResult


def main(job):
    """Rewrite a prompt on the training rows within the calls, then answer the test rows with the best prompt."""
    labels, learner = job["labels"], Client(job, temperature=0)
    rewriter = Client(job, max_tokens=512)

    def judged(row, answer):
        given = last_label(answer, labels)
        right = given == row["answer"]
        return EvaluationResult(float(right), f"It gives {given!r}; the correct label is {row['answer']!r}.")

    adapter = DefaultAdapter(learner, evaluator=judged)
    adapter._lm = learner
    rows = [{"input": row["text"], "answer": row["label"], "additional_context": {}} for row in job["train"]]
    half = len(rows) // 2
    seed = f"{job['about']} Say which label the row has. Labels: {', '.join(labels)}."
    result = optimize(
        seed_candidate={"system_prompt": seed},
        trainset=rows[:half],
        valset=rows[half:],
        adapter=adapter,
        reflection_lm=rewriter,
        max_metric_calls=job["calls"],
    )
    calls, best = {"learner": learner.calls, "optimizer": rewriter.calls}, result.best_candidate["system_prompt"]
    asked = [[{"role": "system", "content": best}, {"role": "user", "content": row["text"]}] for row in job["test"]]
    test = accuracy(learner.batch_complete(asked), job["test"], labels)
    print(json.dumps({"test": test, "calls": calls, "text": best}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
