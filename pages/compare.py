"""Compare: runs side by side, against one of them and against simple models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import beside, blocks, frame, opening, person, pieces
from vpp.data.dataset import Dataset
from vpp.drawing.comparison import (
    CODES,
    SIGN_TEST,
    VOTE,
    conditions_html,
    cost_html,
    elsewhere_html,
    elsewhere_sentence,
    idea_rows,
    ideas_html,
    ideas_sentences,
    left_out_text,
    legend_html,
    points_html,
    points_sentence,
    spread_html,
    standings_html,
    state_words,
    verdict,
)
from vpp.drawing.figures import acceptance_overlay, ess_overlay
from vpp.errors import VppError
from vpp.inspection.baselines import Baselines, baselines, with_prompted
from vpp.inspection.comparison import (
    Candidate,
    Comparison,
    SharedIdeas,
    compare,
    conditions,
    differing_points,
    shared_ideas,
    spreads,
)
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec
from vpp.wording import markup
from vpp.wording.listing import labels
from vpp.wording.options import has_effect
from vpp.wording.words import counted, listed

SHOWS = "sets runs side by side: which predicts better, on which rows they differ, and which ideas they share."
LISTED = 300  # runs that can be picked: the newest
AT_FIRST = 6  # runs of the same rows, the open one among them, that are set side by side unasked
FEW_POINTS = 20  # shown unasked
FEW_IDEAS = 6  # lines shown unasked


@st.cache_resource(max_entries=200, show_spinner=False)
def _fitted(fingerprint: str, _dataset: Dataset) -> Baselines:
    return baselines(_dataset)


def fitted(run: Candidate) -> Baselines:
    simple = _fitted(str(run.snapshot.spec.dataset["fingerprint"]), run.dataset)
    return with_prompted(simple, RunDirectory(person.store().folder / run.id), run.dataset)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The runs that can be picked."""

    directories: dict[str, RunDirectory]
    """By id, newest first."""
    specs: dict[str, RunSpec | None]
    labels: dict[str, str]
    """Name, method and time of each run."""

    def same_rows(self, run: str) -> list[str]:
        """Return the runs on the same rows as this one: itself first, then the newest."""
        rows = {other: spec.dataset.get("fingerprint") for other, spec in self.specs.items() if spec}
        return [run, *(other for other in rows if run in rows and other != run and rows[other] == rows[run])]


def shelf(asked: Sequence[str]) -> Shelf:
    """Return the newest runs and those asked for; made again only if a run has come, gone or changed its settings."""
    directories = {run.id: run for i, run in enumerate(person.store().runs()) if i < LISTED or run.id in asked}

    def make() -> Shelf:
        specs = {run: opening.settings(directory) for run, directory in directories.items()}
        dates = {run: (spec, pieces.made(directories[run])) if spec else None for run, spec in specs.items()}
        return Shelf(directories, specs, labels(dates))

    times = [(run, opening.written_at(directory)) for run, directory in directories.items()]
    return pieces.remembered("compare.shelf", times, make)


def page() -> None:
    named = st.query_params.get("compare", "").split(",")
    asked = list(dict.fromkeys(filter(None, named)))[: len(CODES)]
    runs = shelf([*asked, st.query_params.get("run") or st.session_state.get("run") or ""])
    if not st.query_params.get("run") and not st.session_state.get("run"):
        st.session_state["run"] = next((run for run in asked if run in runs.directories), None)
    opened = opening.open_run("Compare", SHOWS)
    title_place = st.container()
    left, right = st.columns([5, 2])
    with left:
        chosen = pick(runs, asked, opened.directory.id)
    if not chosen:
        blocks.draw(markup.state("No run is picked", "Pick one above to set it beside simple models."))
        st.stop()
    with right:
        reference = pick_reference(runs, chosen, opened.directory.id)
    # In the address for sharing, in the session for coming back.
    st.session_state["compare.kept"] = chosen
    st.query_params["compare"] = ",".join(chosen)
    st.query_params["against"] = reference
    candidates, unread = read(runs, chosen)
    for run, why in unread:
        blocks.failed(f"{runs.labels[run]} cannot be compared", why)
    letters = [CODES[i] for i, run in enumerate(candidates) if run.snapshot.spec.endpoint.is_demo]
    chip = markup.DEMO_CHIP if len(letters) == len(candidates) else f" · {listed(letters)}:{markup.DEMO_CHIP}"
    beside_words = f" · beside {counted(len(chosen) - 1, 'other run')}" if len(chosen) > 1 else ""
    words = f"{runs.labels[reference]}{beside_words}"
    with title_place:
        blocks.draw(markup.title("Runs side by side", words, chip=chip if letters else ""))
    if not candidates:
        st.stop()

    def is_live() -> bool:
        return any(run.snapshot.state in opening.LIVE for run in read(runs, chosen)[0])

    def draw_result() -> None:
        if now := read(runs, chosen)[0]:
            comparison, _ = compared_now(now, reference)
            lead(comparison)
            draw_standings(comparison)

    above, prompted, below = st.container(), st.container(), st.container()
    with above:
        blocks.refreshed(draw_result, is_live=is_live, every_s=5.0)
    if base := next((run for run in candidates if run.id == reference and "test" in run.view.evaluated), None):
        directory = runs.directories[base.id]
        opened = opening.OpenRun(directory, opening.reader(str(directory.path)), base.snapshot)
        with prompted:
            beside.draw_baselines(opened, CODES[chosen.index(reference)])
    with below:
        blocks.refreshed(lambda: draw_rest(read(runs, chosen)[0], reference, runs.labels), is_live=is_live, every_s=5.0)


def pick(runs: Shelf, asked: Sequence[str], opened: str) -> list[str]:
    fill(runs, asked, opened)
    picked = st.multiselect(
        "Runs",
        list(runs.directories),
        format_func=runs.labels.__getitem__,
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
    words = {run: f"{CODES[i]} · {runs.labels[run]}" for i, run in enumerate(chosen)}
    return str(st.selectbox("Reference", chosen, format_func=words.__getitem__, **blocks.lasting("compare.against")))


def read(runs: Shelf, chosen: Sequence[str]) -> tuple[list[Candidate], list[tuple[str, str]]]:
    readable, unread = [], []
    for run in chosen:
        try:
            reader = opening.reader(str(runs.directories[run].path))
            snapshot, dataset = reader.refresh(), reader.dataset()
            readable.append(Candidate(id=run, label=runs.labels[run], snapshot=snapshot, dataset=dataset))
        except (VppError, OSError) as error:
            unread.append((run, str(error)))
    return readable, unread


def draw_rest(candidates: Sequence[Candidate], reference: str, names: Mapping[str, str]) -> None:
    if not candidates:
        return
    comparison, shared = compared_now(candidates, reference)
    draw_points(comparison)
    if shared:
        about = f"grouped by equal answers to the {counted(shared.n_rows, 'row')} that every run evaluated"
        blocks.draw(markup.heading("Ideas side by side", about), markup.caption(ideas_sentences(shared)))
        rows = idea_rows(shared)
        more = len(rows) > FEW_IDEAS and st.toggle(f"Show all {len(shared.all)}", key="compare.ideas")
        runs = {place: comparison.runs[place] for place in shared.places}
        blocks.draw(ideas_html(rows if more else rows[:FEW_IDEAS], runs))
    draw_settings(comparison, names)
    by_setting = spreads(comparison)
    if any(len(spread.by_seed) > 1 for spread in by_setting):
        title = markup.heading("Over seeds", "runs that differ in the seed alone, and in the split it makes")
        blocks.draw(title, spread_html(comparison, by_setting))
    draw_curves(comparison)
    everything = dict(enumerate(comparison.runs))
    pieces.steady(markup.heading("Cost", "calls needed, cached or not") + cost_html(everything), key="compare.cost")


def compared_now(candidates: Sequence[Candidate], reference: str) -> tuple[Comparison, SharedIdeas | None]:
    """Return the comparison and the shared ideas, made again only if a run has changed."""
    ids = [run.id for run in candidates]
    place = ids.index(reference) if reference in ids else 0
    state = tuple((run.id, run.view.last_at, run.snapshot.state) for run in candidates), place

    def make() -> tuple[Comparison, SharedIdeas | None]:
        comparison = compare(candidates, reference=place)
        alike = {each: comparison.runs[each] for each in comparison.comparable}
        return comparison, shared_ideas(alike) if len(alike) > 1 else None

    return pieces.remembered("compare.made", state, make)


def lead(comparison: Comparison) -> None:
    """Draw the verdict, and notes on live runs."""
    runs = comparison.runs
    live = [f"{CODES[i]} {state_words(run)}" for i, run in enumerate(runs) if run.snapshot.state in opening.LIVE]
    notes = [f"As things stand now: {listed(live)}. The page follows."] if live else []
    if len(runs) == 1:
        notes += ["Pick another run above; or start this one again with changes, at the foot of Watch."]
    simple = fitted(comparison.base) if comparison.comparable else None
    blocks.draw(markup.saying(verdict(comparison, simple)), *map(markup.caption, notes))


def draw_standings(comparison: Comparison) -> None:
    simple = fitted(comparison.base) if comparison.comparable else None
    if simple:
        n = len(comparison.base.dataset.test)
        vote = [VOTE] if comparison.base.dataset.classes else []
        notes = [*vote, SIGN_TEST, f"Simple baselines are fitted on {CODES[comparison.reference]}’s training rows."]
        notes += [left_out_text(simple)] if simple.left_out else []
        title = markup.heading("Result", f"{counted(n, 'test row')} · one line a run, then simple baselines")
        notes_html = "".join(map(markup.caption, notes))
        table = markup.CUE + standings_html(comparison, simple)
        pieces.steady(f'{title}{table}<div class="about">{notes_html}</div>', key="compare.standings")
    if comparison.elsewhere:
        title = markup.heading("On other test rows", "each beside simple baselines on its own rows")
        sentence = markup.caption(elsewhere_sentence(comparison)) if simple else ""
        blocks.draw(title, sentence, elsewhere_html(comparison, fitted))
    if comparison.unanswered:
        letters = [f"{CODES[i]} ({state_words(comparison.runs[i])})" for i in comparison.unanswered]
        words = f"Test rows not asked yet: {listed(letters)}. They are asked when a run ends or is stopped."
        blocks.draw(legend_html({i: comparison.runs[i] for i in comparison.unanswered}), markup.caption(words))


def draw_curves(comparison: Comparison) -> None:
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


def draw_points(comparison: Comparison) -> None:
    places = comparison.comparable
    if len(places) < 2:
        return
    own = [standing for place in places if (standing := comparison.standings[place])]
    differing = differing_points(own)
    words = points_sentence(differing, places, len(own[0].rows))
    blocks.draw(markup.heading("Test rows they differ on", "averaged predictions"), markup.caption(words))
    if not differing:
        return
    more = len(differing) > FEW_POINTS and st.toggle(f"Show all {len(differing)}", key="compare.points")
    decimals = comparison.base.dataset.target_decimals
    blocks.draw(points_html(differing if more else differing[:FEW_POINTS], places, decimals))


def draw_settings(comparison: Comparison, names: Mapping[str, str]) -> None:
    facts = conditions(comparison.runs, used=has_effect, labels=names)
    differing = [each for each in facts if each.matters]
    places, reference = range(len(comparison.runs)), comparison.reference
    bold = f"Bold: not as in {CODES[reference]}." if len(places) > 1 else ""
    folds = {"differing": (f"{counted(len(differing), 'setting')} that may explain the difference", differing),
             "all": (f"All {len(facts)} settings", facts)}  # fmt: skip
    for key, (title, shown) in folds.items():
        if shown:
            with st.expander(title, key=f"compare.{key}"):
                blocks.draw(markup.caption(bold), conditions_html(shown, places, reference=reference, name=title))
    if len(places) > 1 and not differing:
        blocks.captions("No setting differs that can change the result.")


frame.enter()
page()
