"""K independent chains: VML (Eq. 1) takes every proposal; VPP-MH (Section 3.2, Algorithm 1) has an accept step.

One chain of VML is `vml`, five are `vml5`. K chains of it that begin like those of Algorithm 1 are its ablation
`always-accept` (Section 5.4).
"""

from dataclasses import replace

from vpp.inference.ahead import Ahead
from vpp.inference.population import Chain, Outcome
from vpp.inference.proposing import decide, propose, score
from vpp.settings import PROPOSAL_TEMPERATURE


async def move(chain: Chain, *, ahead: Ahead) -> Outcome:
    """Lines 5 to 9 of Algorithm 1: theta_{t-1}^(k) becomes theta_t^(k).

    The paper compares both texts on the batch; `mh_rows` may name the rolling buffer or all training rows instead.
    """
    # line 5: y^_m <- f(x_m; theta_{t-1})                                           forward pass
    current = await score(chain, chain.rows, role="forward")
    # line 6: theta~ <- f_opt(theta_{t-1}, {x_m, y^_m, y_m})                        propose
    candidate = await propose(chain.of(current.particle), temperature=PROPOSAL_TEMPERATURE)
    if candidate.text is not None:
        # Either text may go on, so both get the next forward pass while the proposal is evaluated: a round less a step.
        ahead.ask_next(chain, chain.particle.text, candidate.text)
    # lines 7 to 9: theta_t <- theta~ with probability alpha, else theta_{t-1}      evaluate, accept or reject (Eq. 9)
    decided = await decide(candidate, chain.rows)
    return Outcome(
        slot=chain.slot, particle=decided.particle.settled(chain.slot), events=(*current.events, *decided.events)
    )


async def revise(chain: Chain) -> Outcome:
    """One optimizer step on Eq. 1, for one hypothesis."""
    # y^_m <- f(x_m; theta_{t-1})                                                   forward pass
    current = await score(chain, chain.batch, role="forward")
    # theta_t <- f_opt(theta_{t-1}, {x_m, y^_m, y_m})
    candidate = await propose(chain.of(current.particle), temperature=PROPOSAL_TEMPERATURE)
    theta = replace(current.particle, text=candidate.text or chain.particle.text)
    return Outcome(slot=chain.slot, particle=theta.settled(chain.slot), events=(*current.events, candidate.taken()))
