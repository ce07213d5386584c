"""Compare: runs side by side, against one of them and against simple models."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import blocks, frame, opening, person, pieces, thresholds
from vpp.data.dataset import Dataset
from vpp.drawing.comparison import (
    CODES,
    SIGN_TEST,
    elsewhere_html,
    elsewhere_sentence,
    left_out_text,
    legend_html,
    spread_html,
    standings_html,
    state_words,
    verdict,
)
from vpp.drawing.comparison_figures import acceptance_overlay, ess_overlay
from vpp.drawing.differences import (
    conditions_html,
    conditions_sentence,
    cost_html,
    ideas_html,
    kind_sentence,
    points_html,
    points_sentence,
)
from vpp.errors import VppError
from vpp.inspection.baselines import Baselines, baselines
from vpp.inspection.comparison import Candidate, Comparison, compare, differing_points, spreads
from vpp.inspection.conditions import conditions
from vpp.inspection.shared_ideas import SharedIdeas, shared_ideas
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec
from vpp.wording import markup
from vpp.wording.options import has_effect
from vpp.wording.words import counted, listed

SHOWS = "sets runs side by side: how well they predict, which ideas they share, and what they cost."
LISTED = 300  # runs that can be picked: the newest
AT_FIRST = 6  # runs of the same rows, the open one among them, that are set side by side unasked
FEW_POINTS = 20  # shown unasked
FEW_IDEAS = 8  # of a kind, shown unasked


@st.cache_resource(max_entries=200, show_spinner=False)
def _fitted(fingerprint: str, _dataset: Dataset) -> Baselines:
    """Return the simple baselines of a split, fitted once."""
    return baselines(_dataset)


def fitted(run: Candidate) -> Baselines:
    """Return the simple baselines of the run's rows."""
    return _fitted(str(run.snapshot.spec.dataset["fingerprint"]), run.dataset)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The runs that can be picked."""

    directories: dict[str, RunDirectory]
    """By id, newest first."""
    specs: dict[str, RunSpec | None]

    def label(self, run: str) -> str:
        """Return a run's name in the list of options, which is plain text."""
        spec = self.specs[run]
        return f"{spec.name} · {run}" if spec else run

    def same_rows(self, run: str) -> list[str]:
        """Return the runs on the same rows as this one: itself first, then the newest."""
        rows = {other: spec.dataset.get("fingerprint") for other, spec in self.specs.items() if spec}
        return [run, *(other for other in rows if run in rows and other != run and rows[other] == rows[run])]


def shelf(asked: Sequence[str]) -> Shelf:
    """Return the newest runs, and those asked for."""
    stored = enumerate(person.store().runs())
    kept = {directory.id: directory for i, directory in stored if i < LISTED or directory.id in asked}
    return Shelf(kept, {run: opening.settings(directory) for run, directory in kept.items()})


def page() -> None:
    """Draw the choice of runs, then the comparison, which follows live runs."""
    named = st.query_params.get("compare", "").split(",")
    asked = list(dict.fromkeys(filter(None, named)))[: len(CODES)]
    runs = shelf(asked)
    if not st.query_params.get("run") and not st.session_state.get("run"):
        st.session_state["run"] = next((run for run in asked if run in runs.directories), None)
    opened = opening.open_run("Compare", SHOWS)
    title_place = st.container()
    chosen = pick(runs, asked, opened.directory.id)
    if not chosen:
        blocks.draw(markup.state("No run is picked", "Pick one above to set it beside simple models."))
        st.stop()
    reference = pick_reference(runs, chosen, opened.directory.id)
    # In the address for sharing, in the session for coming back.
    st.session_state["compare.kept"] = chosen
    st.query_params["compare"] = ",".join(chosen)
    st.query_params["against"] = reference
    candidates, unread = read(runs, chosen)
    for run, why in unread:
        blocks.failed(f"{run} cannot be compared", why)
    demo = [markup.DEMO_BANNER] if any(run.snapshot.spec.endpoint.is_demo for run in candidates) else []
    with title_place:
        blocks.draw(*demo, markup.title("Runs side by side"))
    if not candidates:
        st.stop()

    def is_live() -> bool:
        return any(run.snapshot.state in opening.LIVE for run in read(runs, chosen)[0])

    blocks.refreshed(lambda: draw(read(runs, chosen)[0], reference), is_live=is_live, every_s=5.0)


def pick(runs: Shelf, asked: Sequence[str], opened: str) -> list[str]:
    """Ask for the runs to compare; their letters follow the order of picking."""
    fill(runs, asked, opened)
    picked = st.multiselect(
        "Runs",
        list(runs.directories),
        format_func=runs.label,
        key="compare.runs",
        max_selections=len(CODES),
        placeholder="Pick runs",
    )
    unknown = [run for run in asked if run not in runs.directories]
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        words = f"The address names {counted(len(unknown), 'run')} that {are} not in the runs folder: "
        blocks.captions(words + listed(unknown) + ".")
    return list(picked)


def fill(runs: Shelf, asked: Sequence[str], opened: str) -> None:
    """Pick the runs that a link names, else those picked before, else those on the open run's rows, oldest first."""
    kept, picked = st.session_state.get("compare.kept", []), st.session_state.get("compare.runs")
    if asked and asked != kept:
        st.session_state.pop("compare.against", None)
        picked = asked
    elif picked is None:
        picked = kept if opened in kept else []
    elif not picked:
        return  # by hand
    there = [run for run in picked if run in runs.directories]  # a run may have been deleted meanwhile
    if not there or there != st.session_state.get("compare.runs"):
        st.session_state["compare.runs"] = there or sorted(runs.same_rows(opened)[:AT_FIRST])


def pick_reference(runs: Shelf, chosen: Sequence[str], opened: str) -> str:
    """Ask for the reference run. Default: the last one chosen, that of the address, the open run, or the first."""
    usual = next((run for run in (st.query_params.get("against", ""), opened) if run in chosen), chosen[0])
    if len(chosen) == 1:
        return usual
    if st.session_state.get("compare.against") not in chosen:
        st.session_state["compare.against"] = usual
    return str(st.selectbox("Set against", chosen, format_func=runs.label, **blocks.lasting("compare.against")))


def read(runs: Shelf, chosen: Sequence[str]) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Return each run's present state, and why some cannot be read."""
    readable, unread = [], []
    for run in chosen:
        try:
            reader = opening.reader(str(runs.directories[run].path))
            readable.append(Candidate(id=run, snapshot=reader.refresh(), dataset=reader.dataset()))
        except (VppError, OSError) as error:
            unread.append((run, str(error)))
    return readable, unread


def draw(candidates: Sequence[Candidate], reference: str) -> None:
    """Draw every part of the comparison."""
    if not candidates:
        return
    ids = [run.id for run in candidates]
    place = ids.index(reference) if reference in ids else 0
    state = tuple((run.id, run.view.last_at, run.snapshot.state) for run in candidates), place
    comparison, shared = pieces.remembered("compare.made", state, lambda: made(candidates, place))
    lead(comparison)
    draw_standings(comparison)
    draw_spreads(comparison)
    draw_curves(comparison)
    if shared:
        draw_ideas(comparison, shared)
    draw_points(comparison)
    everything = dict(enumerate(comparison.runs))
    pieces.steady(markup.heading("Cost", "calls needed, cached or not") + cost_html(everything), key="compare.cost")
    draw_conditions(comparison)
    thresholds.draw_expander()


def made(candidates: Sequence[Candidate], reference: int) -> tuple[Comparison, SharedIdeas | None]:
    """Return the comparison, and the ideas of the runs with the same test rows; None if there are not two."""
    comparison = compare(candidates, reference=reference)
    alike = {place: comparison.runs[place] for place in comparison.comparable}
    return comparison, shared_ideas(alike) if len(alike) > 1 else None


def lead(comparison: Comparison) -> None:
    """Draw the verdict, and notes on live and damaged runs."""
    runs = comparison.runs
    live = [f"{CODES[i]} {state_words(run)}" for i, run in enumerate(runs) if run.snapshot.state in opening.LIVE]
    damaged = [CODES[i] for i, run in enumerate(runs) if run.snapshot.damage]
    notes = [f"As things stand now: {listed(live)}. The page follows."] if live else []
    if damaged:
        notes += [f"The journal of {listed(damaged)} is damaged: only what comes before the damage counts."]
    if len(runs) == 1:
        notes += ["Pick another run above; or start this one again with changes, at the foot of Watch."]
    simple = fitted(comparison.base) if comparison.comparable else None
    blocks.draw(markup.saying(verdict(comparison, simple, at=thresholds.chosen())), *map(markup.caption, notes))


def draw_standings(comparison: Comparison) -> None:
    """Draw results on the reference's test rows, then on other rows, and the runs without results yet."""
    simple = fitted(comparison.base) if comparison.comparable else None
    if simple:
        n = len(comparison.base.dataset.test)
        notes = [f"Simple baselines are fitted on {CODES[comparison.reference]}’s training rows. {SIGN_TEST}"]
        notes += [left_out_text(simple)] if simple.left_out else []
        title = markup.heading("On the same test rows", f"{counted(n, 'row')} · one line a run, then simple baselines")
        notes_html = "".join(map(markup.caption, notes))
        table = markup.CUE + standings_html(comparison, simple, at=thresholds.chosen())
        pieces.steady(f'{title}{table}<div class="about">{notes_html}</div>', key="compare.standings")
    if comparison.elsewhere:
        title = markup.heading("On other test rows", "each beside simple baselines on its own rows")
        sentence = markup.caption(elsewhere_sentence(comparison)) if simple else ""
        blocks.draw(title, sentence, elsewhere_html(comparison, fitted))
    if comparison.unanswered:
        letters = [f"{CODES[i]} ({state_words(comparison.runs[i])})" for i in comparison.unanswered]
        words = f"Test rows not asked yet: {listed(letters)}. They are asked when a run ends or is stopped."
        blocks.draw(legend_html({i: comparison.runs[i] for i in comparison.unanswered}), markup.caption(words))


def draw_spreads(comparison: Comparison) -> None:
    """Draw the spread over seeds, if some setting has several."""
    if len(comparison.runs) == 1:
        return
    by_setting = spreads(comparison)
    title = markup.heading("Over seeds", "runs that differ in the seed alone, and in the split it makes")
    if any(len(spread.by_seed) > 1 for spread in by_setting):
        blocks.draw(title, spread_html(comparison, by_setting))
    else:
        words = "No setting here has more than one seed: pick runs that differ in the seed alone to see the spread."
        blocks.draw(title, markup.caption(words))


def draw_curves(comparison: Comparison) -> None:
    """Draw ESS and acceptance of all runs in common charts."""
    runs, reference = dict(enumerate(comparison.runs)), comparison.reference
    made = (
        ("Effective sample size", "share of K, before resampling", ess_overlay),
        ("Proposals accepted", "share of those judged", acceptance_overlay),
    )
    shown = [each for each in made if each[2](runs, "light", reference=reference)]
    if not shown:
        return
    for column, (title, caption, make) in zip(st.columns(len(shown), gap="large"), shown, strict=True):
        with column:
            pieces.figure(
                lambda mode, make=make: make(runs, mode, reference=reference),
                title=title,
                caption=caption,
                key=f"compare.{make.__name__}",
            )
    blocks.draw(legend_html(runs))


def draw_ideas(comparison: Comparison, shared: SharedIdeas) -> None:
    """Draw the ideas that several runs share, and those of one."""
    places = comparison.comparable
    rows = f"compared on the {counted(shared.n_rows, 'row')} that every run evaluated · particles as last evaluated"
    blocks.draw(markup.heading("Shared and unshared ideas", rows))
    everyone = "In both" if len(places) == 2 else "In all"
    kinds = {
        everyone: shared.held_by(*places),
        "In some": shared.partly if len(places) > 2 else (),
        **{f"Only in {CODES[place]}": shared.held_by(place) for place in places},
    }
    for title, ideas in kinds.items():
        if not ideas and title != everyone:
            continue
        words = kind_sentence(ideas, shared) if ideas else "No shared idea."
        blocks.draw(f'<div class="part">{markup.group(title)}{markup.caption(words)}</div>')
        more = len(ideas) > FEW_IDEAS and st.toggle(f"Show all {len(ideas)}", key=f"compare.ideas.{title}")
        if ideas:
            blocks.draw(ideas_html(ideas if more else ideas[:FEW_IDEAS], dict(enumerate(comparison.runs))))


def draw_points(comparison: Comparison) -> None:
    """Draw the test rows on which the averaged predictions differ."""
    places = comparison.comparable
    if len(places) < 2:
        return
    own = [standing for place in places if (standing := comparison.standings[place])]
    differing = differing_points(own)
    dataset = comparison.base.dataset
    words = points_sentence(len(differing), len(own[0].rows), is_label=dataset.task == "classification")
    blocks.draw(markup.heading("Rows they differ on", "averaged predictions"), markup.caption(words))
    if not differing:
        return
    more = len(differing) > FEW_POINTS and st.toggle(f"Show all {len(differing)}", key="compare.points")
    blocks.draw(points_html(differing if more else differing[:FEW_POINTS], places, dataset.target_decimals))


def draw_conditions(comparison: Comparison) -> None:
    """Draw every option of the runs, or only those that differ."""
    facts = conditions(comparison.runs, used=has_effect)
    several = len(comparison.runs) > 1
    words = conditions_sentence(facts) if several else "Of the one run."
    title = "Settings"
    bold = f"bold: not as in {CODES[comparison.reference]}" if several else ""
    blocks.draw(markup.heading(title, bold), markup.caption(words))
    only = st.toggle("Changes only", value=several, key=f"compare.changes.{several}")
    shown = [each for each in facts if each.differs] if only else facts
    if not shown:
        blocks.captions("Nothing differs: these are runs of the same conditions.")
        return
    places = range(len(comparison.runs))
    blocks.draw(conditions_html(shown, places, reference=comparison.reference))


frame.enter()
page()
