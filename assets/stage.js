// Watch in one piece, drawn from one message: no two parts show different steps. Python sends bytes: a line of JSON, then
// the parts and the deck in each phase of the step, as escaped HTML between zero bytes. A next step plays phase by phase.
const PARTS = ["status", "heading", "phases", "slide", "deck", "foot", "said", "rail"]
const PHASE_MS = 650
const isStill = () => document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches

export default function ({ data: bytes, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".stage") ?? build(parentElement)
  const sent = read(bytes)
  const last = sent.decks.length - 1
  for (const part of sent.parts) fill(root.parts[part], sent.html[part])
  root.parts.heading.textContent = sent.title
  const marks = sent.phases.map((name) => `<li data-phase="${name}">${name[0].toUpperCase()}${name.slice(1)}</li>`).join("")
  if (root.marks !== marks) root.parts.phases.innerHTML = root.marks = marks
  root.parts.foot.textContent = sent.foot
  root.parts.slide.hidden = !sent.at
  const slide = { data: sent.at, parentElement: root.parts.slide, setStateValue, heading: root.parts.heading }
  root.style.visibility = sent.at && scrubber(slide) ? "hidden" : "" // a film that begins does not show the end first
  setTimeout(() => (root.style.visibility = ""), 2000)
  const begins = sent.place - root.place === 1 ? 0 : sent.place === root.place ? Math.min(root.phase, last) : last
  root.moves = sent.place - root.place === 1 || sent.place === root.place
  root.parts.phases.style.visibility = sent.begun.length ? "" : "hidden"
  const now = performance.now() // a quick run has quick phases: each step is seen to its end
  if (sent.place !== root.place) Object.assign(root, { pace: Math.min(PHASE_MS, (now - (root.since ?? 0)) / 4), since: now })
  const isPlaying = root.timer && sent.place === root.place
  Object.assign(root, { sent, place: sent.place })
  if (isPlaying) return
  clearTimeout(root.timer)
  play(root, isStill() ? last : begins)
}

function play(root, phase) { // the step's deck in a phase, and after a moment in the next
  const { sent } = root
  root.phase = phase
  const isLast = phase >= sent.decks.length - 1
  for (const mark of root.parts.phases.children)
    mark.ariaCurrent = mark.dataset.phase === sent.begun.at(isLast ? -1 : phase) ? "step" : null
  const data = { deck: sent.deck, html: sent.decks[phase], moves: root.moves && !isStill() ? glide : null, steady: sent.place !== sent.at?.end }
  deck({ data, parentElement: root.parts.deck })
  root.timer = isLast ? null : setTimeout(() => play(root, Math.min(phase + 1, root.sent.decks.length - 1)), root.pace)
}

function fill(part, html) {
  const next = part.cloneNode(false)
  next.innerHTML = html
  patch(part, next)
}

function read(bytes) {
  const [first, rest] = new TextDecoder().decode(bytes).split(/\n(.*)/s)
  const header = JSON.parse(first)
  const pieces = rest.split("\0")
  const html = Object.fromEntries(header.parts.map((name, i) => [name, pieces[i]]))
  return { ...header, html, decks: pieces.slice(header.parts.length) }
}

function build(parent) {
  const root = document.createElement("div")
  root.className = "vpp stage"
  root.innerHTML =
    '<div class="at-status" role="group" aria-label="state of the run"></div><div class="step"><h2 class="at-heading"></h2><ol class="at-phases phases" ' +
    'aria-label="phases of a step"></ol><div class="at-slide"></div></div><div class="board"><div><div class="at-deck"></div>' +
    '<p class="cap at-foot"></p></div><div class="side"><div class="at-said"></div><div class="at-rail"></div></div></div>'
  root.parts = Object.fromEntries(PARTS.map((name) => [name, root.querySelector(`.at-${name}`)]))
  parent.append(root)
  return root
}
