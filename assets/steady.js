// A part of a page that is patched in place: focus, selection, scrolling and open folds survive a refresh. Python sends
// escaped HTML. A row with data-row opens on a click, or on Enter at its number.
function cueAll(root) {
  for (const cue of root.querySelectorAll(".cue")) {
    const wrap = cue.nextElementSibling
    cue.hidden = wrap.scrollWidth <= wrap.clientWidth + 2
    cue.textContent = cue.hidden ? "" : "Scroll sideways for more columns."
  }
}

const rows = (root) => [...root.querySelectorAll("tr[data-row] button.row")]

// Tab reaches one row's number; arrow keys move between the rows.
function rove(root, to) {
  const all = rows(root)
  const now = to || all.find((button) => button.dataset.row === root.dataset.at) || all[0]
  for (const button of all) button.tabIndex = button === now ? 0 : -1
  if (now) root.dataset.at = now.dataset.row
}

function pressed(root, event) {
  if (!event.target.matches("button.row")) return
  const all = rows(root)
  const at = all.indexOf(event.target)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
  if (to === undefined || !all[to]) return
  event.preventDefault()
  rove(root, all[to])
  all[to].focus()
}

function clicked(root, event) {
  const row = event.target.closest("tr[data-row]")
  const selection = document.getSelection()
  if (!row || !root.contains(row) || (selection && !selection.isCollapsed)) return
  rove(root, row.querySelector("button.row"))
  root.pick(Number(row.dataset.row))
}

function made(parentElement) {
  const root = document.createElement("div")
  root.className = "vpp"
  root.addEventListener("click", (event) => clicked(root, event))
  root.addEventListener("keydown", (event) => pressed(root, event))
  new ResizeObserver(() => cueAll(root)).observe(root)
  parentElement.append(root)
  return root
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".vpp") || made(parentElement)
  root.pick = (row) => setTriggerValue("row", row)
  if (root.html !== data.html) {
    root.html = data.html
    const next = root.cloneNode(false)
    next.innerHTML = data.html
    patch(root, next)
  }
  rove(root)
  cueAll(root)
}
