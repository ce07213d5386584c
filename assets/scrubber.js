// The step band and its slider. Python says what each step was; the slider's place lives here, so that a refresh never
// moves it from under a hand. `step` is null while the latest is followed; the last place of all is the latest.
export default function ({ data, parentElement, setStateValue }) {
  let root = parentElement.querySelector(".vpp")
  if (!root) root = build(parentElement, data)
  root.querySelector(".slot-band").innerHTML = data.band
  root.querySelector("label span").textContent = data.follow
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
    follow.checked = Number(slider.value) >= data.latest
    tell()
    setStateValue("step", follow.checked ? null : Number(slider.value))
  }
  follow.onchange = () => {
    if (follow.checked) slider.value = data.latest
    tell()
    setStateValue("step", follow.checked ? null : Number(slider.value))
  }
}

function build(parent, data) {
  const root = document.createElement("div")
  root.className = "vpp scrubber"
  root.innerHTML =
    '<div class="slot-band"></div><div class="slide"><input type="range" min="0" step="1" aria-label="Step shown">' +
    '<output></output><label><input type="checkbox"> <span></span></label></div>'
  const slider = root.querySelector("input[type=range]")
  slider.max = data.top
  slider.value = data.step ?? data.latest
  root.querySelector("input[type=checkbox]").checked = data.step === null
  parent.append(root)
  return root
}
