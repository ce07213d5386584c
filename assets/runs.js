// The list of runs in the sidebar: names are text, never markup.
export default function ({ data, parentElement, setTriggerValue }) {
  let list = parentElement.querySelector(".vpp")
  if (!list) {
    list = document.createElement("div")
    list.className = "vpp runs"
    parentElement.append(list)
  }
  const shown = JSON.stringify(data.runs)
  if (list.dataset.shown === shown) return
  list.dataset.shown = shown
  const head = document.createElement("h4")
  head.textContent = "Runs"
  const focused = parentElement.contains(document.activeElement) ? document.activeElement.dataset.run : null
  list.replaceChildren(head, ...data.runs.map((run) => row(run, setTriggerValue)))
  if (focused) list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
}

function row(run, setTriggerValue) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = run.open ? "run on" : "run"
  button.dataset.run = run.id
  if (run.open) button.setAttribute("aria-current", "true")
  const name = document.createElement("b")
  const mark = document.createElement("i")
  mark.className = `m ${run.mark}`
  mark.setAttribute("aria-hidden", "true")
  name.append(mark, document.createTextNode(run.name))
  const note = document.createElement("span")
  note.textContent = run.note
  button.append(name, note)
  button.onclick = () => setTriggerValue("picked", run.id)
  return button
}
