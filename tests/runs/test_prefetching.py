"""Whether guesses may be made: an option of how a server is asked, which is never to end a run at its cap."""

from dataclasses import replace
from typing import Any

import pytest

from tests.llm.tables import PARITY
from vpp.errors import InputError
from vpp.inference.plan import plan
from vpp.llm.budget import Budget, Cap
from vpp.llm.counters import Counters
from vpp.runs.budget import is_prefetched, plan_of, room_for_guesses
from vpp.runs.preparation import check_prefetch
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import preset
from vpp.wording.command import _endpoint_options

CONFIG = replace(preset("paper"), method="mh", particles=4, batch_size=2, buffer_size=2, epochs=3)
ROWS = {"n_train": len(PARITY.train), "n_test": len(PARITY.test)}


def spec_of(prefetch: str = "auto", *, demo: bool = False, **options: Any) -> RunSpec:
    endpoint = EndpointSpec(base_url="http://localhost/v1", model="m", prefetch=prefetch, demo=demo)
    return RunSpec(name="", config=replace(CONFIG, **options), endpoint=endpoint, dataset=ROWS)


def has_room(spec: RunSpec, *, room: bool = True, cap: Cap = Cap(), **used: int) -> bool:  # noqa: B008
    counters = Counters()
    counters.add(**used)
    return room_for_guesses(spec, Budget(counters, cap), counters, lambda: room)()


def test_auto_guesses_while_the_server_has_room_on_always_and_off_never() -> None:
    cases = {("auto", True): True, ("auto", False): False, ("on", False): True, ("off", True): False}
    assert {case: has_room(spec_of(case[0]), room=case[1]) for case in cases} == cases


def test_the_demo_model_is_asked_ahead_only_on_demand() -> None:
    assert not is_prefetched(spec_of("auto", demo=True))
    assert is_prefetched(spec_of("on", demo=True))


def test_only_mh_whose_rows_change_has_anything_to_guess() -> None:
    for options in ({"method": "smc"}, {"method": "vml"}, {"mh_rows": "train"}, {"points_per_call": 2}):
        assert not is_prefetched(spec_of("on", **options)), options


def test_no_guess_is_made_that_a_cap_could_make_a_needed_call_wait_for() -> None:
    needed = plan(CONFIG, **ROWS).calls
    round_calls = 2 * 4 * 2
    assert has_room(spec_of(), cap=Cap(calls=needed + round_calls))
    assert not has_room(spec_of(), cap=Cap(calls=needed + round_calls - 1))
    assert not has_room(spec_of(), cap=Cap(calls=needed + round_calls), sent=1), "a guess was sent"
    assert has_room(spec_of(), cap=Cap(calls=needed + round_calls), sent=1, learner=1), "a needed call was sent"
    again = {"learner": 4, "unparsable": 3}
    assert not has_room(spec_of(), cap=Cap(calls=needed + round_calls + 2), sent=4, **again), "three asked again"
    assert has_room(spec_of(), cap=Cap(calls=needed + round_calls + 3), sent=4, **again)
    assert not has_room(spec_of(), cap=Cap(cost=1000.0)), "no call's price is known"


def test_the_plan_tells_both_numbers_of_rounds_and_the_calls_at_most() -> None:
    plain, ahead = plan_of(spec_of("off")), plan_of(spec_of())
    assert (plain.rounds, plain.rounds_plain) == (ahead.rounds_plain, ahead.rounds_plain)
    assert ahead.rounds == plain.rounds - (plain.steps - 1)
    assert ahead.calls > plain.calls


def test_prefetch_with_packed_calls_is_refused_in_one_line() -> None:
    spec = spec_of("on", points_per_call=5)
    with pytest.raises(
        InputError, match=r"prefetch is on, and points_per_call is 5: .* points_per_call at 1"
    ) as refusal:
        check_prefetch(spec.endpoint, spec.config)
    assert "\n" not in str(refusal.value)
    check_prefetch(spec_of("auto", points_per_call=5).endpoint, spec.config)


@pytest.mark.parametrize("demo", [False, True])
def test_the_command_that_repeats_a_run_says_it_where_it_is_not_the_usual(demo: bool) -> None:
    assert "--prefetch=off" in list(_endpoint_options(spec_of("off", demo=demo).endpoint))
    assert not [word for word in _endpoint_options(spec_of(demo=demo).endpoint) if "prefetch" in word]
