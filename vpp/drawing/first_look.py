"""The picture of the front page: three sentences, what they get wrong, and their vote. Made up, and says so."""

from dataclasses import dataclass

from vpp.drawing.deck import squares
from vpp.wording.markup import caption, text, votes
from vpp.wording.words import weight_text


@dataclass(frozen=True, slots=True)
class _Voice:
    weight: float
    sentence: str
    wrong: tuple[int, ...]
    """Places of the rows that contradict it."""
    says: str


ROWS = 8
VOICES = (
    _Voice(
        0.52,
        "A bill at most 16 mm deep is a Gentoo’s; of the rest, those over 44 mm long are Chinstraps’, others Adelies’.",
        (5,),
        "Gentoo",
    ),
    _Voice(
        0.33,
        "A bill up to 41 mm long is an Adelie’s; of the others, those on Biscoe are Gentoos, the rest Chinstraps.",
        (2, 7),
        "Adelie",
    ),
    _Voice(0.15, "Flippers longer than 207 mm are a Gentoo’s; all the rest are Adelies.", (0, 3, 4), "Adelie"),
)
NEW = "A new penguin on Biscoe: bill 35.5 mm long and 15.8 mm deep, flippers 195 mm"
ALT = (
    "Three sentences with their weights, 0.52, 0.33 and 0.15, contradicted by one, two and three of eight rows. "
    "On a new penguin the first says Gentoo and the others Adelie, so the answer is: I don’t know."
)


def picture() -> str:
    """A tiny deck, and under it the vote on a new row."""
    cards = "".join(map(_card, VOICES))
    shares: dict[str, float] = {}
    for voice in VOICES:
        shares[voice.says] = shares.get(voice.says, 0.0) + voice.weight
    leads = max(shares, key=lambda label: shares[label])
    vote = (
        f'<div class="vote-on">{caption(NEW)}'
        f"{votes(sorted(shares.items(), key=lambda share: -share[1]))}"
        f"<p><b>I don’t know:</b> {text(leads)} leads, with only {weight_text(shares[leads], 2)} behind it.</p></div>"
    )
    legend = caption("An illustration. Bar: weight. Squares: eight rows, crossed where the sentence is wrong.")
    deck = f'<div class="deck">{cards}</div>'
    return f'<figure class="first" role="img" aria-label="{text(ALT)}">{deck}{vote}{legend}</figure>'


def _card(voice: _Voice) -> str:
    hits = [place not in voice.wrong for place in range(ROWS)]
    right = f"{sum(hits)} of {ROWS} rows"
    return (
        f'<article class="card" style="--w:{voice.weight}"><div class="slot"><span class="wt">'
        f'{weight_text(voice.weight, 2)}</span></div><div><p class="hyp">{text(voice.sentence)}</p>'
        f'<div class="rail">{squares(hits, right)}<span>{text(right)}</span>'
        f"<span>the new one: {text(voice.says)}</span></div></div></article>"
    )
