"""The rivals' model on any OpenAI-compatible server: counts its calls, asks several at a time."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import openai

IN_FLIGHT = 64


class Client:
    """A model; `temperature` None leaves the server's default."""

    def __init__(self, job, temperature=None, max_tokens=512):
        self._api = openai.OpenAI(base_url=job["base_url"], api_key=job.get("key") or "EMPTY", timeout=600)
        self._options = {"model": job["model"], "max_tokens": max_tokens}
        self._options |= {} if temperature is None else {"temperature": temperature}
        self._counted = itertools.count(1)
        self.calls = 0
        """Calls so far."""

    def __call__(self, prompt):
        """Answer a text or a conversation."""
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        answer = self._api.chat.completions.create(messages=messages, **self._options)
        self.calls = next(self._counted)
        return answer.choices[0].message.content or ""

    def batch_complete(self, conversations, **_):
        """Answer several conversations, in their order."""
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            return list(pool.map(self, conversations))


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
