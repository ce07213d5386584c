"""The optimizer: a model that writes the next hypothesis, from a batch or from the columns alone."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from vpp.data.dataset import Row
from vpp.errors import PromptRefused
from vpp.llm.answers import Parsed, parse_rule
from vpp.llm.conversation import Chat, RoleChat, cut_off_words
from vpp.llm.guards import fault_of, words
from vpp.llm.limits import Counters
from vpp.llm.prompts import ModelLimits, OptimizerPrompts, seed_sentence
from vpp.llm.protocol import Completion, Message
from vpp.problem import Prediction, Proposal

THOUGHTS_LIMIT = 2_000
"""Characters of a thinking model's thoughts that are recorded."""


class LlmOptimizer:
    """f_opt(theta, batch): a model that writes the next hypothesis."""

    def __init__(self, endpoint: Chat, prompts: OptimizerPrompts, limits: ModelLimits, *, counters: Counters) -> None:
        self._chat = RoleChat(endpoint, counters, "optimizer")
        self._prompts = prompts
        self._limits = limits
        self._counters = counters
        self._lead = _lead_pattern(prompts.seed_text, seed_sentence(prompts.dataset))

    async def propose(
        self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction], *, temperature: float, seed: int
    ) -> Proposal:
        """Return a revised hypothesis. Raises EndpointError.

        While a prompt does not fit the context, or is refused, the last half of its rows is left out.
        """

        def about(count: int) -> list[Message]:
            return self._prompts.about_batch(hypothesis, rows[:count], predictions[:count], seed=seed)

        count = len(rows)
        while count > 1 and not self._limits.fit(about(count)):
            count //= 2
        while True:
            try:
                proposal = await self._ask(about(count), hypothesis, temperature=temperature, seed=seed)
                return replace(proposal, shown=count if count < len(rows) else None)
            except PromptRefused as refusal:
                refused = self._refused(refusal, temperature, seed)
                if count == 1:
                    return replace(refused, shown=1)
                count //= 2

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        """Return a hypothesis from the seed text and the columns alone. Raises EndpointError."""
        messages, parent = self._prompts.about_columns(), self._prompts.seed_text
        try:
            return await self._ask(messages, parent, temperature=temperature, seed=seed)
        except PromptRefused as refusal:
            return self._refused(refusal, temperature, seed)

    def _refused(self, refusal: PromptRefused, temperature: float, seed: int) -> Proposal:
        self._counters.add(unparsable=1)
        return Proposal(text=None, raw="", temperature=temperature, seed=seed, reason=refusal.words)

    async def _ask(self, messages: list[Message], parent: str, *, temperature: float, seed: int) -> Proposal:
        read = partial(self._read, parent, temperature=temperature, seed=seed)
        options = {"temperature": temperature, "max_tokens": self._limits.max_tokens}
        proposal, _ = await self._chat.until_read(messages, read, seed=seed, **options)
        return proposal

    def _read(self, parent: str, completion: Completion, *, temperature: float, seed: int) -> Proposal:
        """Return the proposal without copies of the seed text, or why it is unreadable or refused by the guard."""
        seed_text = self._prompts.seed_text
        parsed: Parsed[str] = Parsed(reason=cut_off_words(completion))
        if not completion.cut_off:
            parsed = parse_rule(completion.text)
        rule, reason = self._lead.sub("", parsed.value or "", count=1).strip(), parsed.reason
        if parsed.value is not None and not rule:
            reason = "the new rule only repeats its first sentence"
        is_parent = words(rule) == words(parent.removeprefix(seed_text))
        fault = fault_of(rule, self._prompts.dataset) if rule and not is_parent else None
        return Proposal(
            text=f"{seed_text} {rule}" if rule and not fault else None,
            raw=completion.text,
            temperature=temperature,
            seed=seed,
            reason=fault or reason,
            refused=fault is not None,
            thoughts=(completion.reasoning or "")[:THOUGHTS_LIMIT],
        )


def _lead_pattern(seed_text: str, sentence: str) -> re.Pattern[str]:
    """Match copies of the seed text, its first sentence or the prior at the start of a rule, in any spacing."""
    prior = seed_text.removeprefix(sentence).strip()
    parts = [r"\s+".join(map(re.escape, part.split())) for part in (seed_text, sentence, prior) if part]
    return re.compile(rf"\A\s*(?:(?:{'|'.join(parts)})\s*)*")
