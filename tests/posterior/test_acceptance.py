"""The accept step (Eq. 9)."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.posterior.weights import accepts, log_acceptance

log_liks = st.floats(-1e6, 0) | st.just(-math.inf)


@settings(deadline=None)
@given(st.floats(-300, 0), st.floats(-300, 0))
def test_alpha_is_the_capped_likelihood_ratio(proposal, current):
    alpha = math.exp(log_acceptance(proposal, current))
    assert alpha == pytest.approx(min(1.0, math.exp(proposal) / math.exp(current)), rel=1e-9)


@settings(deadline=None)
@given(log_liks, log_liks)
def test_one_of_a_move_and_its_way_back_is_certain(one, other):
    assert max(log_acceptance(one, other), log_acceptance(other, one)) == 0.0


@given(log_liks)
def test_a_tie_is_always_accepted(log_lik):
    log_alpha = log_acceptance(log_lik, log_lik)
    assert log_alpha == 0.0
    assert accepts(log_alpha, u=math.nextafter(1, 0))
    assert accepts(log_alpha, u=0.0)


@pytest.mark.parametrize("u", [0.0, 5e-324, 1e-300, 0.5])
def test_out_of_the_impossible_every_way_leads_and_into_it_none(u):
    assert log_acceptance(-1e6, -math.inf) == log_acceptance(-math.inf, -math.inf) == 0.0
    assert log_acceptance(-math.inf, -1e6) == -math.inf
    assert not accepts(-math.inf, u=u)


@pytest.mark.parametrize("pair", [(math.nan, 0.0), (0.0, math.nan), (math.nan, -math.inf)])
def test_nan_is_refused(pair):
    with pytest.raises(ValueError, match="NaN"):
        log_acceptance(*pair)


@settings(deadline=None)
@given(st.floats(1e-6, 1), st.floats(0, 1, exclude_max=True))
def test_accepting_means_u_below_alpha(alpha, u):
    if abs(u - alpha) > 1e-12:
        assert accepts(math.log(alpha), u=u) == (u < alpha)
