"""Options of what a run may cost: prices, and the cap at which it pauses."""

from argparse import ArgumentParser, _ArgumentGroup


def budget_options(parser: ArgumentParser) -> None:
    """Of a new run."""
    group = parser.add_argument_group("budget")
    about = "a million prompt tokens cost; with it the plan, the progress and the report tell money"
    group.add_argument("--price-in", type=float, metavar="PRICE", help=about)
    group.add_argument("--price-out", type=float, metavar="PRICE", help="a million completion tokens cost")
    group.add_argument("--optimizer-price-in", type=float, metavar="PRICE", help="where the optimizer's differs")
    group.add_argument("--optimizer-price-out", type=float, metavar="PRICE", help="where the optimizer's differs")
    group.add_argument("--currency", default="", help="what prices are in, in your own word (none)")
    cap_options(group)
    about = "print what the run would take, and end without a call"
    group.add_argument("--plan", action="store_true", help=about)


def cap_options(group: ArgumentParser | _ArgumentGroup) -> None:
    """At which a run pauses."""
    about = "pause where so many requests are sent, retries included; `resume` goes on with a higher one (0: no cap)"
    group.add_argument("--max-calls", type=int, metavar="N", help=about)
    group.add_argument("--max-cost", type=float, metavar="X", help="pause where so much is spent (0: no cap)")
