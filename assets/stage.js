// Watch in one piece. Everything that shows a step is drawn from one message, so no two parts show different steps.
// Python sends bytes: a line of JSON, then the parts as escaped HTML with a zero byte between two of them.
const PARTS = ["status", "said", "rail"]

export default function ({ data: bytes, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".stage") ?? build(parentElement)
  const { at, place, deck: id, head, foot, html } = read(bytes)
  for (const part of PARTS) steady({ data: { html: html[part] }, parentElement: root.parts[part], setTriggerValue: () => {} })
  root.parts.slide.hidden = !at
  if (at) scrubber({ data: at, parentElement: root.parts.slide, setStateValue })
  // Cards move where a step follows the one shown: then their data-from names the cards before.
  const moves = place - root.place === 1 ? glide : null
  deck({ data: { deck: id, head, foot, html: html.deck, moves }, parentElement: root.parts.deck, setStateValue })
  root.place = place
}

function read(bytes) {
  const text = new TextDecoder().decode(bytes)
  const end = text.indexOf("\n")
  const header = JSON.parse(text.slice(0, end))
  const parts = text.slice(end + 1).split("\0")
  return { ...header, html: Object.fromEntries(header.parts.map((name, i) => [name, parts[i]])) }
}

function build(parent) {
  const root = document.createElement("div")
  root.className = "vpp stage"
  root.innerHTML =
    '<div class="at-status" role="group" aria-label="state of the run"></div><div class="board"><div class="at-said"></div>' +
    '<div class="at-slide"></div><div class="at-deck"></div><div class="at-rail"></div></div>'
  root.parts = Object.fromEntries([...PARTS, "slide", "deck"].map((name) => [name, root.querySelector(`.at-${name}`)]))
  parent.append(root)
  return root
}
