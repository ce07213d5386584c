"""VML (Eq. 1): the optimizer rewrites a hypothesis to lower its loss on a mini-batch; every proposal is taken.

One chain is `vml`, five are `vml5`. K chains that begin like those of Algorithm 1 are its ablation `always-accept`
(Section 5.4).
"""

from dataclasses import replace

from vpp.inference.population import Chain, Outcome
from vpp.inference.proposing import propose, score
from vpp.settings import PROPOSAL_TEMPERATURE


async def revise(chain: Chain) -> Outcome:
    """One optimizer step on Eq. 1, for one hypothesis."""
    # y^_m <- f(x_m; theta_{t-1})                                                   forward pass
    current = await score(chain, chain.batch, role="forward")
    # theta_t <- f_opt(theta_{t-1}, {x_m, y^_m, y_m})
    candidate = await propose(chain.of(current.particle), temperature=PROPOSAL_TEMPERATURE)
    theta = replace(current.particle, text=candidate.text or chain.particle.text)
    return Outcome(slot=chain.slot, particle=theta.settled(chain.slot), events=(*current.events, candidate.taken()))
