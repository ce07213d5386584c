// The live deck. Python sends bytes, a line of JSON and the cards as escaped HTML; this puts them in place without
// disturbing a reader: an open fold stays open, a selection stays selected, and while a card is read the order is held.
const ENDS = ["pointerup", "pointercancel"]
const folds = (card) => [...card.querySelectorAll("details[data-fold]")]

function isRead(deck, selected) {
  return deck.contains(selected) || deck.matches(":hover") || deck.querySelector("details[open]") || deck.contains(document.activeElement)
}

// Where a selection begins; null where none is. Asked once a refresh: after a change the browser lays out the page first.
function selectedNode() {
  const selection = document.getSelection()
  return selection && !selection.isCollapsed ? selection.anchorNode : null
}

// An open fold that a step has no successor for stays, as one from before, until it has or is closed.
function keepOpen(card, next) {
  const foot = next.querySelector(".foot")
  if (!foot) return
  for (const fold of folds(card)) {
    const isInner = fold.parentElement.closest("details")
    if (!fold.open || isInner || next.querySelector(`details[data-fold="${CSS.escape(fold.dataset.fold)}"]`)) continue
    const kept = fold.cloneNode(true)
    kept.dataset.before = "true"
    // Nothing is sent any more for a step that has passed: a prompt that did not come is left out.
    for (const prompt of kept.querySelectorAll("details[data-wanted]")) {
      if (prompt.querySelector("pre")) delete prompt.dataset.wanted
      else prompt.remove()
    }
    foot.append(kept)
  }
}

// Whether the card is what it should be now; one that holds a selection waits.
function update(card, next, opened, selected) {
  const name = (fold) => `${card.dataset.key} ${fold.dataset.fold}`
  for (const fold of folds(card)) opened[fold.open ? "add" : "delete"](name(fold))
  if (card.whole === next.whole) return true
  if (selected && card.contains(selected)) return false
  const focused = card.contains(document.activeElement) ? document.activeElement.closest("details")?.dataset.fold : null
  const copied = card.contains(document.activeElement) ? document.activeElement.dataset.copy : null
  keepOpen(card, next)
  for (const { name, value } of next.attributes) if (card.getAttribute(name) !== value) card.setAttribute(name, value)
  card.replaceChildren(...next.childNodes)
  card.whole = next.whole
  for (const fold of folds(card)) {
    fold.open = opened.has(name(fold))
    if (fold.dataset.fold === focused) fold.querySelector("summary").focus({ preventScroll: true })
  }
  for (const button of card.querySelectorAll("button.copy"))
    if (button.dataset.copy === copied) button.focus({ preventScroll: true })
  return true
}

// Words on the clipboard; where the browser has no such interface, by way of a field that is selected and copied.
async function copy(words) {
  try {
    await navigator.clipboard.writeText(words)
    return true
  } catch {
    const field = document.createElement("textarea")
    field.value = words
    field.style.cssText = "position:fixed;opacity:0"
    document.body.append(field)
    field.select()
    const done = document.execCommand("copy")
    field.remove()
    return done
  }
}

async function copyClicked(root, event) {
  const button = event.target.closest("button.copy")
  if (!button) return
  const said = (await copy(button.dataset.copy)) ? "Copied" : "Not copied"
  button.focus({ preventScroll: true })
  button.textContent = root.querySelector(".told").textContent = said
  setTimeout(() => {
    button.textContent = "Copy"
    root.querySelector(".told").textContent = ""
  }, 2000)
}

// Prompts come when they are opened: Python is told of which slots one is, and sends those cards anew with them.
function want(root) {
  const open = [...root.querySelectorAll("details[data-wanted][open]")].map((fold) => Number(fold.dataset.wanted))
  const wanted = [...new Set(open)].sort((a, b) => a - b)
  if (JSON.stringify(wanted) === root.wanted) return
  root.wanted = JSON.stringify(wanted)
  root.tell(wanted)
}

function told(data) {
  const text = new TextDecoder().decode(data)
  const end = text.indexOf("\n")
  return { ...JSON.parse(text.slice(0, end)), html: text.slice(end + 1) }
}

function around(root, name, html) {
  const place = root.querySelector(name)
  if (place.whole === html) return
  place.innerHTML = place.whole = html
}

function parse(html) {
  const holder = document.createElement("template")
  holder.innerHTML = html
  const cards = [...holder.content.querySelectorAll("[data-key]")]
  for (const card of cards) card.whole = card.outerHTML
  return { seed: holder.content.querySelector(".seed"), cards }
}

export default function ({ data: bytes, parentElement, setStateValue }) {
  const data = told(bytes)
  let root = parentElement.querySelector(".vpp")
  if (!root) {
    root = document.createElement("div")
    root.className = "vpp"
    root.innerHTML = '<div class="above"></div><p class="seed"></p><p class="cap held" hidden>The order is held while you read.</p>' +
      '<div class="deck"></div><div class="below"></div><span class="told sr" role="status"></span>'
    root.addEventListener("click", (event) => copyClicked(root, event))
    root.wanted = "[]"
    root.addEventListener("toggle", () => want(root), true)
    // What a reader opened stays open, also where a step has no such fold for a while.
    root.opened = new Set()
    // A click begun on a card must end on it: nothing is replaced while a button is down.
    root.addEventListener("pointerdown", () => (root.pressed = true))
    listen(root)
    parentElement.append(root)
  }
  root.tell = (wanted) => setStateValue("wanted", wanted)
  root.data = data
  draw(root)
}

// What was held back is drawn when the button is up, after its click, and when nothing is selected any more: a run
// that has ended sends nothing again.
function listen(root) {
  const released = () => {
    root.pressed = false
    setTimeout(settle)
  }
  const settle = () => {
    if (root.isConnected) return void (root.whole === null && !selectedNode() && draw(root))
    for (const end of ENDS) window.removeEventListener(end, released)
    document.removeEventListener("selectionchange", settle)
  }
  for (const end of ENDS) window.addEventListener(end, released)
  document.addEventListener("selectionchange", settle)
}

function draw(root) {
  const data = root.data
  around(root, ".above", data.head)
  around(root, ".below", data.foot)
  if (root.whole === data.html && root.querySelector(".deck").dataset.deck === data.deck) return
  root.whole = null
  if (root.pressed) return
  const selected = selectedNode()
  const deck = root.querySelector(".deck")
  const isReading = isRead(deck, selected)
  const held = root.querySelector(".held")
  const { seed, cards } = parse(data.html)
  root.querySelector(".seed").textContent = seed ? seed.textContent : ""
  const sameDeck = deck.dataset.deck === data.deck
  const known = new Map([...deck.children].map((card) => [card.dataset.key, card]))
  let isWhole = true
  const wanted = cards.map((next) => {
    const card = known.get(next.dataset.key)
    if (!card) return next
    isWhole = update(card, next, root.opened, selected) && isWhole
    return card
  })
  const sorted = wanted.every((card, i) => deck.children[i] === card) && deck.children.length === wanted.length
  const hold = sameDeck && !sorted && known.size === wanted.length && isReading
  held.hidden = !hold
  if (!sorted && !hold) deck.replaceChildren(...wanted)
  deck.dataset.deck = data.deck
  // What is held back comes with a later refresh, which may bring the same HTML.
  root.whole = isWhole && !hold ? data.html : null
  // Room that was taken is kept, at a run's end too: nothing below moves up under a reader.
  if (data.steady) root.style.minHeight = `${Math.max(parseFloat(root.style.minHeight) || 0, root.offsetHeight)}px`
}
