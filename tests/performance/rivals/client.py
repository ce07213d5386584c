"""The rivals' model on any OpenAI-compatible server: counts its calls, asks several at a time, keeps every answer.

At temperature 0 a conversation asked before has its first answer again, and counts as a call all the same. A job that
was stopped has its answers again in their order, so that it goes on where it was.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import openai

IN_FLIGHT = 64


class Client:
    """A model; `temperature` None leaves the server's default."""

    def __init__(self, job, temperature=None, max_tokens=512):
        self._api = openai.OpenAI(base_url=job["base_url"], api_key=job.get("key") or "EMPTY", timeout=3600)
        self._options = {"model": job["model"], "max_tokens": max_tokens}
        self._options |= {} if temperature is None else {"temperature": temperature}
        self._is_fixed = temperature == 0
        self._kept, self._writing = Path(job["answers"]), Lock()
        lines = self._kept.read_text().splitlines() if self._kept.exists() else []
        whole = [line for line in lines if line.endswith("]")]  # a killed job may leave half a line
        self._known = {(key, time): answer for key, time, answer in map(json.loads, whole)}
        self._times = {}
        self.calls = 0
        """Calls so far."""

    def __call__(self, prompt):
        """Answer a text or a conversation."""
        return self.batch_complete([[{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt])[0]

    def batch_complete(self, conversations, **_):
        """Answer several conversations, in their order."""
        places = [self._place(each) for each in conversations]
        new = {place: each for place, each in zip(places, conversations, strict=True) if place not in self._known}
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            list(pool.map(self._ask, new, new.values()))
        self.calls += len(conversations)
        return [self._known[place] for place in places]

    def _place(self, conversation):
        """Return (key, how often it was asked before; always 0 at temperature 0)."""
        key = json.dumps([self._options, conversation])
        time = 0 if self._is_fixed else self._times.get(key, 0)
        self._times[key] = time + 1
        return key, time

    def _ask(self, place, messages):
        try:
            reply = self._api.chat.completions.create(messages=messages, **self._options)
        except openai.OpenAIError as error:  # GEPA would swallow it, and report what it has as its result
            print(f"no answer: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        answer = reply.choices[0].message.content or ""
        with self._writing, self._kept.open("a") as file:
            file.write(json.dumps([*place, answer]) + "\n")
        self._known[place] = answer


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
