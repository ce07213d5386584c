// The slider of steps, counted from 1, and the film. Python sends the steps; the position is kept here, so that a refresh
// never moves it during a drag. `at.step` is null while the latest step, or the end, is followed. The film requests a step
// only after the server has confirmed the one before: a slow server makes a slow film, never a queue.
const STEP_MS = 2400
const latest = (root) => root.data.end ?? root.data.newest

export default function ({ data, parentElement, setStateValue, heading }) {
  const isNew = !parentElement.querySelector(".scrubber")
  const root = isNew ? build(parentElement, data) : parentElement.querySelector(".scrubber")
  Object.assign(root, { data, heading })
  root.tell = () => setStateValue("at", { step: root.follows ? null : Number(root.slider.value) })
  root.slider.max = data.end ?? data.total
  root.play.hidden = data.end === null
  if (data.end === null) stop(root)
  if (root.follows) root.slider.value = latest(root)
  // The server can miss a choice made while it draws the page: send it again.
  if (root.follows && data.step !== null && !root.playing) root.tell()
  if (root.playing && !root.timer && data.step === root.awaited) next(root)
  name(root)
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches
  if (!isNew || !data.plays || !root.follows || isStill || sessionStorage.getItem(location.search)) return
  sessionStorage.setItem(location.search, "played")
  play(root)
  return true
}

function name(root) {
  const place = Number(root.slider.value)
  const words = place === root.data.end ? "the end" : `step ${place} of ${root.data.total}`
  root.slider.setAttribute("aria-valuetext", words)
  root.latest.style.visibility = root.follows ? "hidden" : ""
  return words
}

function stop(root) {
  clearTimeout(root.timer)
  root.timer = root.playing = null
  root.play.textContent = "Replay"
}

function play(root) {
  root.playing = true
  root.play.textContent = "Pause replay"
  if (root.follows) return go(root, 1)
  root.awaited = Number(root.slider.value)
  if (root.data.step === root.awaited) next(root)
}

function next(root) {
  if (root.follows) return stop(root)
  root.timer = setTimeout(() => {
    root.timer = null
    if (!root.isConnected || document.hidden) return stop(root)
    go(root, Number(root.slider.value) + 1)
  }, STEP_MS)
}

function go(root, place) {
  root.slider.value = Math.min(place, latest(root))
  root.follows = place >= latest(root)
  root.awaited = root.follows ? null : place
  name(root)
  root.tell()
}

function build(parent, data) {
  const root = document.createElement("div")
  root.className = "scrubber"
  root.innerHTML = '<input type="range" min="1" step="1" aria-label="Step shown"><button type="button"></button><button type="button">Latest</button>'
  ;[root.slider, root.play, root.latest] = root.children
  root.data = data
  root.follows = data.step === null
  root.slider.max = data.end ?? data.total
  root.slider.value = data.step ?? latest(root)
  stop(root)
  root.play.onclick = () => (root.playing ? stop(root) : play(root))
  root.slider.oninput = () => {
    stop(root)
    root.slider.value = Math.min(Number(root.slider.value), latest(root))
    const words = name(root)
    root.heading.textContent = words[0].toUpperCase() + words.slice(1)
  }
  root.slider.onchange = () => go(root, Number(root.slider.value))
  // The button is out of sight at the end: the focus goes to the slider.
  root.latest.onclick = () => {
    stop(root)
    root.slider.focus()
    go(root, latest(root))
  }
  parent.append(root)
  return root
}
