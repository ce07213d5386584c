"""Imports what a run imports at its end, before a fork: a lock held by another thread would last for ever."""

from tests.inspected import LABELS, NUMBERS
from vpp.findings.baselines import baselines

MODELS = [baselines(data) for data in (LABELS, NUMBERS)]
