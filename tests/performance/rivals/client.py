"""The rivals' model on any OpenAI-compatible server: counts its calls, asks several at a time.

At temperature 0 a conversation asked before has its first answer again, and counts as a call all the same.
"""

import json
from concurrent.futures import ThreadPoolExecutor

import openai

IN_FLIGHT = 64


class Client:
    """A model; `temperature` None leaves the server's default."""

    def __init__(self, job, temperature=None, max_tokens=512):
        self._api = openai.OpenAI(base_url=job["base_url"], api_key=job.get("key") or "EMPTY", timeout=3600)
        self._options = {"model": job["model"], "max_tokens": max_tokens}
        self._options |= {} if temperature is None else {"temperature": temperature}
        self._known = {} if temperature == 0 else None
        self.calls = 0
        """Calls so far."""

    def __call__(self, prompt):
        """Answer a text or a conversation."""
        return self.batch_complete([[{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt])[0]

    def batch_complete(self, conversations, **_):
        """Answer several conversations, in their order."""
        known = {} if self._known is None else self._known
        keys = [json.dumps(each) if known is self._known else place for place, each in enumerate(conversations)]
        new = {key: each for key, each in zip(keys, conversations, strict=True) if key not in known}
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            known.update(zip(new, pool.map(self._asked, new.values()), strict=True))
        self.calls += len(conversations)
        return [known[key] for key in keys]

    def _asked(self, messages):
        return self._api.chat.completions.create(messages=messages, **self._options).choices[0].message.content or ""


def last_label(answer, labels):
    """Return the label that an answer names last; empty if it names none."""
    places = {label: answer.rfind(label) for label in labels}
    found = max(places, key=lambda label: (places[label], len(label)))
    return found if places[found] >= 0 else ""


def accuracy(answers, rows, labels):
    """Share of the rows whose answer names their label last."""
    return sum(last_label(answer, labels) == row["label"] for answer, row in zip(answers, rows, strict=True)) / len(
        rows
    )
