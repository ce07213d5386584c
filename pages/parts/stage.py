"""The stage of Watch: status, slider, cards and figures of one step, sent to the browser as one message."""

import json
from functools import lru_cache

from pages.parts import charts, opening, pieces, replay
from pages.parts.replay import Shown
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import SQUARES, deck_html, skeletons_html
from vpp.drawing.rail import bars_html, generations_html, map_html
from vpp.events import INITIAL_STEP
from vpp.inspection.hypothesis_map import hypothesis_map
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot, balanced_accuracy
from vpp.settings import Config
from vpp.wording import markup
from vpp.wording.brief import unread_html
from vpp.wording.listing import MARKS
from vpp.wording.progress import happened, headline, metrics, phase
from vpp.wording.status import asking_words, pending_words

_STAGE = pieces.component("stage", "steady", "scrubber", "deck", "glide")


def draw(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> None:
    parts = {
        "status": status_html(run, snapshot),
        "said": said_html(run, snapshot, shown),
        "deck": cards_html(run, snapshot, shown),
        "rail": rail_html(run, snapshot, shown),
        "numbers": numbers_html(run, snapshot, shown),
    }
    header = {
        "parts": [*parts],
        "at": replay.slider(run, snapshot, shown),
        "place": place(snapshot, shown),
        "deck": shown.deck_id,
        "head": heading(snapshot, shown),
        "foot": markup.caption(SQUARES) if snapshot.spec.dataset["task"] == "classification" else "",
    }
    heard = dict.fromkeys(("on_at_change", "on_wanted_change"), lambda: None)
    message = _message(json.dumps(header), *parts.values())
    _STAGE(data=message, key=replay.slider_key(run), default={"at": None}, **heard)


@lru_cache(maxsize=16)
def _message(header: str, *parts: str) -> bytes:
    return "\n".join((header, "\0".join(parts))).encode(errors="replace")


def place(snapshot: Snapshot, shown: Shown) -> int:
    """Return the place of the step shown: -1 before the first step, T for the end."""
    if shown.newest is None:
        return INITIAL_STEP
    return snapshot.view.total_steps if shown.step is None else shown.step


def status_html(run: opening.OpenRun, snapshot: Snapshot) -> str:
    """Return the state of the run and of its step. Times and calls stand apart: they change without a step."""
    waiting = run.directory.pending_command() if snapshot.state in opening.LIVE else None
    pending = pending_words(waiting.command, snapshot.state) if waiting else ""
    return markup.phase(MARKS[snapshot.state], pending or phase(snapshot))


def said_html(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    view = snapshot.view

    def make() -> str:
        if view.last_step is None and snapshot.state in opening.LIVE:
            written = f"{len(view.drawn)} of {snapshot.spec.config.size} are written."
            return lead_html(markup.saying(asking_words(snapshot.spec))) + markup.happening(written)
        lead = lead_html(unread_html(view), markup.saying(headline(snapshot, shown.step)))
        if view.last_step is None:
            return lead
        step = INITIAL_STEP if shown.newest is None else shown.step
        balanced = balanced_accuracy(view, run.reader.dataset) if step is None else None
        return lead + markup.happening(happened(view, step, snapshot.spec.config, balanced=balanced))

    return pieces.drawn(run, snapshot, "said", shown, snapshot.state, snapshot.loading_s is not None, make=make)


def lead_html(*parts: str) -> str:
    return f'<div class="lead">{"".join(parts)}</div>'


def heading(snapshot: Snapshot, shown: Shown) -> str:
    config = snapshot.spec.config
    order = ", heaviest first" if config.is_weighted else ", likeliest first" if config.is_filtered else ""
    if shown.newest is None:
        title, order = "First hypotheses", ""
    elif not shown.is_end:
        title = f"Hypotheses at step {shown.step}"
    else:
        title = "Hypotheses at the end" if snapshot.state in ("finished", "stopped") else "Hypotheses that are kept"
    rows = {"batch": "batch", "buffer": "buffer", "train": "training rows"}[config.scored_on]
    bars = "bar = weight" if config.is_weighted else f"bar = likelihood per row of the {rows}"
    return markup.heading(f"{title}{order}", f"{bars} · underlined: added · struck: removed")


def cards_html(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    view, config = snapshot.view, snapshot.spec.config
    wanted = pieces.wanted(replay.slider_key(run), most=config.largest_size)

    def make() -> str:
        if view.started is None:
            return skeletons_html(range(config.size))
        dataset = run.reader.dataset()
        prompts = PromptMaker(snapshot.spec, dataset, answers=run.reader.read_answers)
        maker = CardMaker(view, config, dataset, prompts, wanted=wanted)
        if shown.newest is None:
            waiting = () if view.has_ended else (slot for slot in range(config.size) if slot not in view.drawn)
            return deck_html(maker.initial(), seed_text=view.started.seed_text) + skeletons_html(waiting)
        cards = maker.final() if shown.step is None else maker.at(shown.step)
        return deck_html(cards, seed_text=view.started.seed_text)

    return pieces.drawn(run, snapshot, "deck", shown.newest, shown.step, wanted, make=make)


def rail_html(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    """Return the figures beside the cards: a map of the hypotheses, a bar a step, and the last generations."""
    view, config = snapshot.view, snapshot.spec.config
    if view.last_step is None:
        return ""

    def make() -> str:
        step, dataset = INITIAL_STEP if shown.newest is None else shown.step, run.reader.dataset()
        figures = (
            ("Map of the hypotheses", map_html(hypothesis_map(view, config, dataset, step))) if config.size > 1 else (),
            (bars_title(config), bars_html(view, config, dataset, step)),
            ("Genealogy", generations_html(view, config, step)),
        )
        named = [(markup.term(each[0]), each[1]) for each in figures if each]
        return "".join(f'<section><h3 class="group">{title}</h3>{figure}</section>' for title, figure in named)

    return pieces.drawn(run, snapshot, "rail", shown.newest, shown.step, make=make)


def bars_title(config: Config) -> str:
    if config.is_weighted:
        return "Effective sample size"
    return "Proposals accepted" if config.is_filtered else "Error on the batch"


def numbers_html(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    view = snapshot.view
    if view.last_step is None:
        return ""

    def make() -> str:
        scope = "the whole run" if shown.step is None else f"step {shown.step}"
        strip = markup.strip(metrics(snapshot, shown.step))
        return markup.group(f"Numbers of {scope}") + strip + "".join(map(markup.caption, charts.notes(run, view)))

    return pieces.drawn(run, snapshot, "numbers", shown.step, snapshot.state, make=make)
