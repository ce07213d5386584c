// A part of a page that is patched in place: focus, selection, scrolling and open folds survive a refresh. Python sends
// escaped HTML. A caption says how many columns of a wide table are in view. A row with data-row opens on a click, or on
// Enter at its number, if Python asks for that.
const keyOf = (node) => node.dataset?.row ?? node.dataset?.under ?? node.dataset?.key ?? null

function patch(old, next) {
  if (old.isEqualNode(next)) return
  if (old.nodeName !== next.nodeName) return old.replaceWith(next)
  if (old.nodeType === Node.TEXT_NODE) return void (old.data = next.data)
  for (const { name } of [...old.attributes])
    if (name !== "open" && !next.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  patchWithin(old, next)
}

// Match rows by their key, so that a row that stays keeps the focus; match other children by index, if as many.
function patchWithin(old, next) {
  const before = [...old.childNodes]
  const after = [...next.childNodes]
  if (after.length && after.every((child) => keyOf(child) !== null)) {
    const known = new Map(before.map((child) => [keyOf(child), child]))
    for (const child of before) if (!after.some((other) => keyOf(other) === keyOf(child))) child.remove()
    after.forEach((child, i) => {
      const same = known.get(keyOf(child)) || child
      if (old.childNodes[i] !== same) old.insertBefore(same, old.childNodes[i] || null)
      if (same !== child) patch(same, child)
    })
  } else if (before.length === after.length) before.forEach((child, i) => patch(child, after[i]))
  else old.replaceChildren(...after)
}

const wrapOf = (cue) => cue.nextElementSibling

// `4 of 14 columns in view: scroll sideways`; empty if all are. Columns fixed at the left or right are in view.
function told(wrap) {
  const heads = [...wrap.querySelector("thead tr:last-child").children]
  const { left, right } = wrap.getBoundingClientRect()
  const last = heads.at(-1)
  const isHeld = last && getComputedStyle(last).position === "sticky"
  const end = isHeld ? last.getBoundingClientRect().left : right
  const held = heads[0] && getComputedStyle(heads[0]).position === "sticky" ? heads[0].getBoundingClientRect().right : left
  const seen = heads.filter((head, i) => {
    const box = head.getBoundingClientRect()
    return (i === 0 && held > left) || (head === last && isHeld) || (box.left >= held - 2 && box.right <= end + 2)
  })
  return seen.length < heads.length ? `${seen.length} of ${heads.length} columns in view: scroll sideways.` : ""
}

function cueAll(root) {
  for (const cue of root.querySelectorAll(".cue")) {
    const wrap = wrapOf(cue)
    cue.textContent = wrap.scrollWidth > wrap.clientWidth + 2 ? told(wrap) : ""
    cue.hidden = !cue.textContent
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
  root.addEventListener("scroll", () => cueAll(root), true)
  new ResizeObserver(() => cueAll(root)).observe(root)
  parentElement.append(root)
  return root
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".vpp") || made(parentElement)
  root.pick = (row) => setTriggerValue("row", row)
  if (root.html !== data.html) {
    root.html = data.html
    const next = document.createElement("div")
    next.innerHTML = data.html
    patchWithin(root, next)
  }
  rove(root)
  cueAll(root)
}
