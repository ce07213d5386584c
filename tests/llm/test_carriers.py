"""Servers over real HTTP honour, ignore or refuse each field of structured output."""

from typing import Any

import pytest

from vpp.errors import EndpointUnreachable
from vpp.llm.check import CARRIER_TOKENS, CarrierTest, honoured, try_carriers
from vpp.llm.structure import CARRIERS, FIELDS

from .stub import Behaviour, Reply, Request, chat, endpoint_of, refusal, script

HELD = {"structured_outputs": "KALUMI", "grammar": "TORVEN", "response_format": '{"output": "KALUMI"}'}


def honouring(field: str, *, others: Reply | None = None) -> Behaviour:
    """A server that honours one field alone. others: its answer to a request with another; None ignores them."""

    async def behave(request: Request) -> Reply:
        if field in request.body:
            return chat(HELD[field])
        return others if others and set(FIELDS.values()) & set(request.body) else chat("hello")

    return behave


async def outcomes(behaviour: Behaviour) -> tuple[tuple[CarrierTest, ...], list[dict[str, Any]]]:
    async with endpoint_of(behaviour, max_attempts=1) as (endpoint, stub):
        return await try_carriers(endpoint), stub.bodies


async def test_the_first_field_that_is_honoured_ends_the_test() -> None:
    for place, carrier in enumerate(CARRIERS):
        tested, bodies = await outcomes(honouring(FIELDS[carrier]))
        assert honoured(tested) == carrier
        assert [one.outcome for one in tested] == ["ignored"] * place + ["honoured"]
        assert [body["max_completion_tokens"] for body in bodies] == [CARRIER_TOKENS] * (place + 1)


async def test_a_server_that_refuses_other_fields_is_still_found_out() -> None:
    for others in (
        refusal(400, "no"),
        refusal(422, "Unexpected fields in the request: {'structured_outputs', 'grammar'}"),
        refusal(400, "Unsupported parameter", param="structured_outputs"),
    ):
        tested, _ = await outcomes(honouring("response_format", others=others))
        assert (honoured(tested), tested[0].outcome) == ("json_schema", "refused"), others


async def test_a_server_that_honours_no_field_is_distinguished_from_one_that_answers_nothing() -> None:
    tested, _ = await outcomes(honouring("none"))
    assert honoured(tested) is None
    assert {(one.outcome, one.answer, one.is_answered) for one in tested} == {("ignored", "hello", True)}
    tested, _ = await outcomes(script(refusal(404, "no such model")))
    assert [(one.outcome, one.is_answered) for one in tested] == [("refused", False)] * 3
    with pytest.raises(EndpointUnreachable):
        await outcomes(script(None))
