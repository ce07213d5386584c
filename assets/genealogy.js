// The genealogy: a column per step, a row per slot, a line from each particle to its parent. The number of elements does
// not grow with the particles: one path for living lines, one for extinct ones, two for the particles; the particle under
// the pointer is computed from its coordinates. Texts are set as text. The reader's selection survives a refresh.
const SVG = "http://www.w3.org/2000/svg"
const MANY = 1500
const TOP = 24
const AXIS = 26
const EDGE = 16
const HINT = "Point at a particle, or move there with the arrow keys, to read it. A click, or Enter, opens its ancestors."

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".tree") ?? build(parentElement)
  root.open = (at) => setTriggerValue("opened", `${at.i}:${at.k}`)
  const isOther = root.data?.run !== data.run
  const isNew = isOther || root.data.made !== data.made
  root.data = data
  if (isOther) root.at = null
  if (isNew) redraw(root)
  if (isOther) root.scroller.scrollLeft = root.layout.gutter + x(root, data.columns.length - 1) + EDGE - root.scroller.clientWidth
  drawOpened(root)
}

function build(parent) {
  const root = document.createElement("div")
  root.className = "vpp tree"
  root.innerHTML =
    '<div class="scroll" tabindex="0" role="application" aria-roledescription="genealogy">' +
    `<svg xmlns="${SVG}" class="slots" aria-hidden="true"></svg><svg xmlns="${SVG}" class="lines" aria-hidden="true"></svg></div>` +
    '<div class="told" aria-live="polite"></div>' +
    '<details class="astable"><summary>Show as table</summary><div></div></details>'
  root.scroller = root.querySelector(".scroll")
  root.slots = root.querySelector(".slots")
  root.lines = root.querySelector(".lines")
  root.lines.onpointermove = (event) => point(root, hit(root, event))
  root.lines.onpointerleave = () => point(root, null)
  root.lines.onclick = (event) => choose(root, hit(root, event))
  root.scroller.onkeydown = (event) => key(root, event)
  root.scroller.onfocus = () => {
    if (root.scroller.matches(":focus-visible")) move(root, root.at ?? start(root))
  }
  root.scroller.onblur = () => point(root, null)
  new ResizeObserver(() => {
    if (root.data && root.width !== root.scroller.clientWidth) {
      redraw(root)
      drawOpened(root)
    }
  }).observe(root.scroller)
  parent.append(root)
  return root
}

// Places

function layout(root) {
  const { columns, total } = root.data
  const slots = Math.max(...columns.map((column) => column.texts.length))
  const gutter = 14 + 8 * String(slots - 1).length
  const room = root.scroller.clientWidth - gutter - 2 * EDGE
  const dy = slots <= 12 ? 24 : slots <= 25 ? 18 : 14
  const dx = Math.min(180, Math.max(26, room / Math.max(1, total - 1)))
  return { slots, gutter, dx, dy, width: 2 * EDGE + dx * Math.max(1, total - 1), bottom: TOP + dy * (slots - 1) }
}

const x = (root, i) => EDGE + root.layout.dx * i
const y = (root, k) => TOP + root.layout.dy * k
const parentOf = (root, { i, k }) => root.data.columns[i].parents[k]

function radius(root, i, k) {
  const weights = root.data.columns[i].weights
  return weights ? Math.min(1.7 + 6 * Math.sqrt(weights[k]), 0.44 * root.layout.dy) : 3
}

function hit(root, event) {
  const box = root.lines.getBoundingClientRect()
  const i = Math.round((event.clientX - box.left - EDGE) / root.layout.dx)
  const k = Math.round((event.clientY - box.top - TOP) / root.layout.dy)
  const found = root.data.columns[i]?.texts[k] !== undefined
  return found && Math.abs(event.clientX - box.left - x(root, i)) <= 24 ? { i, k } : null
}

// Drawing

function redraw(root) {
  root.width = root.scroller.clientWidth
  root.layout = layout(root)
  const { width, gutter, bottom } = root.layout
  size(root.slots, gutter, bottom + AXIS)
  size(root.lines, width, bottom + AXIS)
  root.scroller.setAttribute("aria-label", `${root.data.alt} ${HINT}`)
  const parts = paths(root)
  root.lines.replaceChildren(
    path("dead", parts.dead), path("break", breaks(root)), path("alive", parts.alive), path("opened", ""), path("trace", ""),
    path("ghost", parts.ghosts), path("node", parts.nodes), path("chosen", ""), path("ring", ""), ...labels(root),
  )
  root.slots.replaceChildren(...slotNumbers(root))
  const fold = root.querySelector(".astable > div")
  if (fold.innerHTML !== root.data.table) fold.innerHTML = root.data.table
  if (root.at && root.data.columns[root.at.i]?.texts[root.at.k] === undefined) root.at = null
  point(root, document.activeElement === root.scroller ? root.at : null)
}

function size(svg, width, height) {
  for (const [name, value] of [["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`]]) svg.setAttribute(name, value)
}

function path(name, d) {
  const made = document.createElementNS(SVG, "path")
  made.setAttribute("class", name)
  made.setAttribute("d", d)
  return made
}

function label(words, at, height, anchor, name = "") {
  const made = document.createElementNS(SVG, "text")
  for (const [key, value] of [["x", at], ["y", height], ["text-anchor", anchor], ["class", name]]) made.setAttribute(key, value)
  made.textContent = words
  return made
}

function paths(root) {
  const { columns } = root.data
  const isMany = columns.reduce((sum, column) => sum + column.texts.length, 0) > MANY
  const drawn = { alive: [], dead: [], nodes: [], ghosts: [] }
  columns.forEach((column, i) =>
    column.texts.forEach((_, k) => {
      const lives = column.alive[k] === "1"
      if (column.parents[k] >= 0) drawn[lives ? "alive" : "dead"].push(edge(root, i, k))
      if (!isMany || isTelling(root, i, k)) drawn[lives ? "nodes" : "ghosts"].push(circle(root, i, k, radius(root, i, k)))
    }),
  )
  return Object.fromEntries(Object.entries(drawn).map(([name, parts]) => [name, parts.join("")]))
}

// True if something happened to the particle: if there are many, only those are drawn.
function isTelling(root, i, k) {
  const column = root.data.columns[i]
  const isMoved = column.parents[k] !== k
  return isMoved || Number(column.happened[k]) < root.data.changing || column.fates[k] !== "0" || i === root.data.columns.length - 1
}

function edge(root, i, k) {
  return `M${x(root, i - 1).toFixed(1)} ${y(root, parentOf(root, { i, k }))}L${x(root, i).toFixed(1)} ${y(root, k)}`
}

function circle(root, i, k, r) {
  const d = (2 * r).toFixed(1)
  return `M${(x(root, i) - r).toFixed(1)} ${y(root, k)}a${r.toFixed(1)} ${r.toFixed(1)} 0 1 0 ${d} 0a${r.toFixed(1)} ${r.toFixed(1)} 0 1 0 -${d} 0`
}

const halfway = (root, column) => x(root, column - 0.5)

function breaks(root) {
  return root.data.breaks.map(({ column }) => `M${halfway(root, column).toFixed(1)} 4V${root.layout.bottom + 8}`).join("")
}

function labels(root) {
  const { dx, bottom } = root.layout
  const made = []
  let free = 0
  for (const { column, words } of root.data.breaks) {
    const at = halfway(root, column)
    const length = 6.2 * words.length + 8
    const isLast = at + length > root.layout.width
    if (at - (isLast ? length : 0) < free) continue
    made.push(label(words, at + (isLast ? -4 : 4), 12, isLast ? "end" : "start", "why"))
    free = at + (isLast ? 0 : length)
  }
  const last = root.data.total - 1
  const every = [1, 2, 5, 10, 20, 50, 100, 200].find((n) => n * dx >= 26) ?? 500
  for (let i = 0; i <= last; i += 1) {
    const step = i - 1
    const isLast = i === last
    const isShown = i === 0 || isLast || (step % every === 0 && (last - i) * dx >= 24 && i * dx >= 34)
    if (isShown) made.push(label(i === 0 ? "first" : String(step), x(root, i), bottom + AXIS - 5, "middle"))
  }
  return made
}

function slotNumbers(root) {
  const { slots, gutter, dy } = root.layout
  const every = dy < 16 && slots > 25 ? 5 : 1
  return Array.from({ length: slots }, (_, k) => k)
    .filter((k) => k % every === 0 || k === slots - 1)
    .map((k) => label(String(k), gutter - 8, y(root, k) + 4, "end"))
}

// Pointing and opening

function lineTo(root, at) {
  const parts = []
  for (let { i, k } = at; i > 0 && parentOf(root, { i, k }) >= 0; k = parentOf(root, { i, k }), i -= 1) parts.push(edge(root, i, k))
  return parts.join("")
}

function drawOpened(root) {
  const at = root.data.opened && { i: root.data.opened[0], k: root.data.opened[1] }
  const exists = at && root.data.columns[at.i]?.texts[at.k] !== undefined
  root.lines.querySelector(".opened").setAttribute("d", exists ? lineTo(root, at) : "")
  root.lines.querySelector(".chosen").setAttribute("d", exists ? circle(root, at.i, at.k, radius(root, at.i, at.k) + 2.5) : "")
}

function point(root, at) {
  const shown = at ?? (document.activeElement === root.scroller ? root.at : null)
  root.lines.style.cursor = at ? "pointer" : ""
  root.lines.querySelector(".trace").setAttribute("d", shown ? lineTo(root, shown) : "")
  root.lines.querySelector(".ring").setAttribute("d", shown ? circle(root, shown.i, shown.k, radius(root, shown.i, shown.k) + 4) : "")
  tell(root, shown)
}

function tell(root, at) {
  const told = root.querySelector(".told")
  const name = `${root.data.made} ${root.width} ${at?.i} ${at?.k}`
  if (told.dataset.name === name) return
  told.dataset.name = name
  const isWide = root.scroller.scrollWidth > root.scroller.clientWidth
  if (!at) return told.replaceChildren(words("cap", isWide ? `${HINT} Scroll sideways for the other steps.` : HINT))
  const column = root.data.columns[at.i]
  told.replaceChildren(words("cap", facts(root, at).join(" · ")), words("hyp", root.data.texts[column.texts[at.k]]))
}

function words(name, content) {
  const made = document.createElement("p")
  made.className = name
  made.textContent = content
  return made
}

function facts(root, { i, k }) {
  const { columns, happened, fates, afresh } = root.data
  const column = columns[i]
  const parent = column.parents[k]
  const found = [`Particle ${k} ${i ? `after step ${i - 1}` : "as first drawn"}`]
  if (column.weights) found.push(`weight ${weight(column.weights[k])}`)
  if (parent >= 0 && parent !== k) found.push(`copied from particle ${parent}`)
  if (i) found.push(column.afresh.includes(k) ? afresh : happened[Number(column.happened[k])])
  if (column.fates[k] !== "0") found.push(fates[Number(column.fates[k])])
  else if (column.alive[k] !== "1") found.push("its line died out")
  return found
}

function weight(value) {
  if (value === 0 || value === 1) return value.toFixed(3)
  return value < 0.0005 ? "under 0.001" : value >= 0.9995 ? "over 0.999" : value.toFixed(3)
}

function choose(root, at) {
  if (!at) return
  root.at = at
  root.scroller.focus({ preventScroll: true })
  point(root, at)
  root.open(at)
  reveal(root, at)
}

// Scroll the opened part, which is under the drawing, into view as far as needed, but keep the chosen particle in view.
function reveal(root, at, tries = 60) {
  const opened = document.querySelector(".vpp ul.said")?.closest(".vpp")
  const head = `Particle ${at.k} after ${at.i ? `step ${at.i - 1}` : "the first draw"},`
  if (root.at !== at || !root.isConnected) return
  if (!opened?.textContent.startsWith(head)) {
    if (tries) setTimeout(() => reveal(root, at, tries - 1), 50)
    return
  }
  const page = pageOf(root)
  const view = page.getBoundingClientRect()
  const box = opened.getBoundingClientRect()
  const below = box.top + Math.min(box.height, view.height / 3) + 16 - view.bottom
  const above = root.lines.getBoundingClientRect().top + y(root, at.k) - 72 - view.top
  const by = Math.min(below, above)
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches
  if (by > 0) page.scrollBy({ top: by, behavior: isStill ? "auto" : "smooth" })
}

function pageOf(root) {
  let found = root.parentElement
  while (found.parentElement && !/auto|scroll/.test(getComputedStyle(found).overflowY)) found = found.parentElement
  return found
}

// Keys: left to the parent, right to a child, up and down to the next slot.

function start(root) {
  const [i, k] = root.data.opened ?? [root.data.columns.length - 1, 0]
  return { i, k }
}

function children(root, { i, k }) {
  const next = root.data.columns[i + 1]
  const found = (next?.parents ?? []).flatMap((parent, child) => (parent === k ? [child] : []))
  return [...found.filter((child) => next.alive[child] === "1"), ...found]
}

function next(root, at, name) {
  const { i, k } = at
  const column = root.data.columns[i]
  if (name === "ArrowUp") return { i, k: Math.max(0, k - 1) }
  if (name === "ArrowDown") return { i, k: Math.min(column.texts.length - 1, k + 1) }
  if (name === "ArrowLeft") return column.parents[k] >= 0 ? { i: i - 1, k: column.parents[k] } : at
  if (name === "Home") return { i: 0, k: Math.min(k, root.data.columns[0].texts.length - 1) }
  if (name === "End") return { i: root.data.columns.length - 1, k: Math.min(k, root.data.columns.at(-1).texts.length - 1) }
  const child = children(root, at)[0]
  return child === undefined ? at : { i: i + 1, k: child }
}

function key(root, event) {
  const at = root.at ?? start(root)
  if (event.key === "Enter" || event.key === " ") choose(root, at)
  else if (["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) move(root, next(root, at, event.key))
  else return
  event.preventDefault()
}

function move(root, at) {
  root.at = at
  const { scroller, layout } = root
  const left = layout.gutter + x(root, at.i)
  const from = scroller.scrollLeft + layout.gutter + 30
  const to = scroller.scrollLeft + scroller.clientWidth - 30
  if (left < from) scroller.scrollLeft -= from - left
  else if (left > to) scroller.scrollLeft += left - to
  point(root, at)
}
