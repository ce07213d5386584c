// The step band, its slider and its film. Python sends the steps; the slider's position is kept here, so that a refresh
// never moves it during a drag. `at.step` is null while the latest step, or the end, is followed. The film requests a step
// only after the server has confirmed the one before: a slow server makes a slow film, never a queue.
const STEP_MS = 1600

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".vpp") ?? build(parentElement, data)
  root.data = data
  root.tell = (film) => setStateValue("at", { step: root.follow.checked ? null : Number(root.slider.value), film })
  if (root.band !== data.band) root.querySelector(".slot-band").innerHTML = root.band = data.band
  if (root.key !== data.key) root.querySelector(".key").innerHTML = root.key = data.key
  root.style.setProperty("--n", data.top + 1)
  root.slider.max = data.top
  for (const part of root.querySelectorAll(".film, .end")) part.hidden = data.end === null
  root.querySelector(".follow").hidden = data.end !== null
  if (data.end === null) stop(root)
  if (root.follow.checked) root.was = root.slider.value = latest(root)
  // The server can miss a choice made while it draws the page: send it again.
  if (root.follow.checked && data.step !== null && !root.playing) root.tell(false)
  name(root)
  if (root.playing && !root.timer && data.step === root.awaited) next(root)
}

const latest = (root) => root.data.end ?? root.data.newest

// The end has its mark in the band and the heading of the cards: only a step is named here.
function name(root) {
  const { newest, end } = root.data
  const place = Number(root.slider.value)
  const isEnd = end !== null && place > newest
  const step = place === newest ? root.data.called : `step ${place}`
  root.output.textContent = isEnd ? "" : step
  root.slider.setAttribute("aria-valuetext", isEnd ? "the end" : step)
  root.querySelector(".end").style.visibility = root.follow.checked ? "hidden" : ""
}

// There is no step between the newest one and the end.
function moveTo(root, place) {
  const { newest } = root.data
  const isBack = place < root.was
  root.was = place <= newest ? place : isBack && root.was > newest ? newest : latest(root)
  root.slider.value = root.was
  root.follow.checked = root.was >= latest(root)
}

function stop(root) {
  clearTimeout(root.timer)
  root.timer = root.playing = null
  root.play.textContent = "Play the film"
}

function play(root) {
  root.playing = true
  root.play.textContent = "Pause the film"
  if (root.follow.checked) return show(root, 0)
  root.awaited = Number(root.slider.value)
  if (root.data.step === root.awaited) next(root)
}

function next(root) {
  if (root.follow.checked) return stop(root)
  root.timer = setTimeout(() => {
    root.timer = null
    if (!root.isConnected || document.hidden) return stop(root)
    show(root, Number(root.slider.value) + 1)
  }, STEP_MS)
}

function show(root, place) {
  root.was = place - 1
  moveTo(root, place)
  root.awaited = root.follow.checked ? null : place
  name(root)
  root.tell(true)
}

// Follow the latest step, or show the end, or stay at the step shown.
function follow(root, is_followed) {
  stop(root)
  root.follow.checked = is_followed
  if (is_followed) root.was = root.slider.value = latest(root)
  name(root)
  root.tell(false)
}

function build(parent, data) {
  const root = document.createElement("div")
  root.className = "vpp scrubber"
  root.innerHTML =
    '<div class="slot-band"></div><div class="slide"><input type="range" min="0" step="1" aria-label="Step shown">' +
    '<output></output><span class="film"><button type="button" class="plain"></button>' +
    '</span><span class="key cap"></span>' +
    '<button type="button" class="end">Go to the end</button>' +
    '<label class="follow"><input type="checkbox"> Follow latest</label></div>'
  root.slider = root.querySelector("input[type=range]")
  root.follow = root.querySelector("input[type=checkbox]")
  root.output = root.querySelector("output")
  root.play = root.querySelector("button")
  root.data = data
  root.slider.max = data.top
  root.follow.checked = data.step === null
  root.was = root.slider.value = data.step ?? latest(root)
  stop(root)
  listen(root)
  parent.append(root)
  return root
}

function listen(root) {
  const toggle = () => (root.playing ? stop(root) : play(root))
  root.play.onclick = toggle
  root.slider.onkeydown = (event) => {
    if (event.key !== " " || root.data.end === null) return
    event.preventDefault()
    toggle()
  }
  root.slider.oninput = () => {
    stop(root)
    moveTo(root, Number(root.slider.value))
    if (root.data.end === null) root.follow.checked = false
    name(root)
  }
  root.slider.onchange = () => {
    root.follow.checked = Number(root.slider.value) >= latest(root)
    name(root)
    root.tell(false)
  }
  root.follow.onchange = () => follow(root, root.follow.checked)
  // The button is out of sight at the end: the focus goes to the slider.
  root.querySelector(".end").onclick = () => {
    root.slider.focus()
    follow(root, true)
  }
  const hidden = () => {
    if (!root.isConnected) document.removeEventListener("visibilitychange", hidden)
    if (document.hidden) stop(root)
  }
  document.addEventListener("visibilitychange", hidden)
}
