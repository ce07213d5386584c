// The list of runs in the sidebar: names are text, never markup.
export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const list = parentElement.querySelector(".vpp") ?? frame(parentElement, setStateValue)
  const shown = JSON.stringify(data)
  if (list.dataset.shown === shown) return
  list.dataset.shown = shown
  list.querySelector("label").hidden = !data.searched
  const rows = list.querySelector("ul")
  const focused = rows.contains(document.activeElement) ? document.activeElement.dataset.run : null
  rows.replaceChildren(...data.runs.map((run) => row(run, setTriggerValue)))
  if (focused) rows.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
  list.querySelector("p").hidden = data.runs.length > 0
  const more = list.querySelector("button.more")
  more.hidden = data.more <= 0
  more.textContent = `Show ${data.more} more of ${data.of}`
  more.onclick = () => setStateValue("most", data.next_most)
}

function frame(parentElement, setStateValue) {
  const list = document.createElement("nav")
  list.className = "vpp runs"
  list.setAttribute("aria-labelledby", "vpp-runs")
  const head = Object.assign(element("h2", "Runs"), { id: "vpp-runs" })
  const label = element("label", "Find by name")
  const field = Object.assign(document.createElement("input"), { type: "search" })
  let waiting
  field.oninput = () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => setStateValue("find", field.value), 250)
  }
  label.append(field)
  const more = button("more")
  list.append(head, label, document.createElement("ul"), element("p", "No run has this in its name."), more)
  parentElement.append(list)
  return list
}

function row(run, setTriggerValue) {
  const opener = button(run.open ? "run on" : "run")
  opener.dataset.run = run.id
  if (run.open) opener.setAttribute("aria-current", "true")
  const name = element("b", run.name)
  name.prepend(Object.assign(element("i", ""), { className: `m ${run.mark}`, ariaHidden: "true" }))
  opener.append(name, element("span", run.open ? `open · ${run.note}` : run.note))
  opener.onclick = () => setTriggerValue("picked", run.id)
  const item = document.createElement("li")
  item.append(opener)
  return item
}

function button(name) {
  return Object.assign(element("button", ""), { type: "button", className: name })
}

function element(tag, words) {
  return Object.assign(document.createElement(tag), { textContent: words })
}
