// The step band and its slider. Python says what each step was; the slider's place lives here, so that a refresh never
// moves it from under a hand. `step` is null while the latest is followed.
export default function ({ data, parentElement, setStateValue }) {
  let root = parentElement.querySelector(".vpp")
  if (!root) root = build(parentElement)
  root.querySelector(".slot-band").innerHTML = data.band
  const slider = root.querySelector("input[type=range]")
  const follow = root.querySelector("input[type=checkbox]")
  const output = root.querySelector("output")
  slider.max = data.top
  const name = (step) => (step >= data.end ? "the end" : `step ${step}`)
  const tell = () => {
    output.textContent = follow.checked ? `following: ${name(Number(slider.value))}` : name(Number(slider.value))
    slider.setAttribute("aria-valuetext", name(Number(slider.value)))
  }
  const clamp = () => (slider.value = Math.min(Number(slider.value), data.latest))
  if (follow.checked) slider.value = data.latest
  tell()
  slider.oninput = () => {
    follow.checked = false
    clamp()
    tell()
  }
  slider.onchange = () => {
    follow.checked = false
    tell()
    setStateValue("step", Number(slider.value))
  }
  follow.onchange = () => {
    if (follow.checked) slider.value = data.latest
    tell()
    setStateValue("step", follow.checked ? null : Number(slider.value))
  }
}

function build(parent) {
  const root = document.createElement("div")
  root.className = "vpp scrubber"
  root.innerHTML =
    '<div class="slot-band"></div><div class="slide"><input type="range" min="0" step="1" aria-label="Step shown">' +
    '<output></output><label><input type="checkbox" checked> Follow latest</label></div>'
  parent.append(root)
  return root
}
