// The live deck. Python sends bytes: a line of JSON, then the cards as escaped HTML. Cards are replaced without disturbing
// a reader: open folds stay open, a selection stays selected, and the order is held while someone reads a card.
const ENDS = ["pointerup", "pointercancel"]
const folds = (card) => [...card.querySelectorAll("details[data-fold]")]

function isRead(deck, selected) {
  return deck.contains(selected) || deck.matches(":hover") || deck.querySelector("details[open]") || deck.contains(document.activeElement)
}

// Node at which the selection begins, or null. Read once per refresh: after a change it would force a layout.
function selectedNode() {
  const selection = document.getSelection()
  return selection && !selection.isCollapsed ? selection.anchorNode : null
}

// Keep an open fold that is missing from the next card, until the fold comes back or is closed.
function keepOpen(card, next) {
  const foot = next.querySelector(".foot")
  if (!foot) return
  for (const fold of folds(card)) {
    const isInner = fold.parentElement.closest("details")
    if (!fold.open || isInner || next.querySelector(`details[data-fold="${CSS.escape(fold.dataset.fold)}"]`)) continue
    const kept = fold.cloneNode(true)
    kept.dataset.before = "true"
    // Python sends no prompt of an earlier step any more: remove one that has not arrived.
    for (const prompt of kept.querySelectorAll("details[data-wanted]")) {
      if (prompt.querySelector("pre")) delete prompt.dataset.wanted
      else prompt.remove()
    }
    foot.append(kept)
  }
}

// Update a card unless it holds a selection; true if the card is up to date afterwards.
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

// Copy words to the clipboard. A browser without that interface copies from a selected text field.
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

// Prompts are sent on demand: Python gets the slots of the open ones and sends those cards again with their prompts.
function want(root) {
  const open = [...root.querySelectorAll("details[data-wanted][open]")].map((fold) => Number(fold.dataset.wanted))
  const wanted = [...new Set(open)].sort((a, b) => a - b)
  if (JSON.stringify(wanted) === root.wanted) return
  root.wanted = JSON.stringify(wanted)
  root.tell(wanted)
}

function read(bytes) {
  const text = new TextDecoder().decode(bytes)
  const end = text.indexOf("\n")
  return { ...JSON.parse(text.slice(0, end)), html: text.slice(end + 1) }
}

function parse(html) {
  const holder = document.createElement("template")
  holder.innerHTML = html
  const cards = [...holder.content.querySelectorAll("[data-key]")]
  for (const card of cards) card.whole = card.outerHTML
  return cards
}

export default function ({ data: sent, parentElement, setStateValue }) {
  const data = sent.html === undefined ? read(sent) : sent
  let root = parentElement.querySelector(".vpp")
  if (!root) {
    root = document.createElement("div")
    root.className = "vpp"
    root.innerHTML = '<p class="cap held" hidden>The order is held while you read.</p><div class="deck"></div>' +
      '<span class="told sr" role="status"></span>'
    root.addEventListener("click", (event) => copyClicked(root, event))
    root.wanted = "[]"
    root.addEventListener("toggle", () => want(root), true)
    // Folds opened by the reader stay open, even if some steps lack them.
    root.opened = new Set()
    // Nothing is replaced while a button is down, so that a click begun on a card ends on it.
    root.addEventListener("pointerdown", () => (root.pressed = true))
    listen(root)
    parentElement.append(root)
  }
  root.tell = (wanted) => setStateValue("wanted", wanted)
  root.data = data
  draw(root)
}

// Draw a delayed update after the click and when the selection is gone: a run that has ended sends no further update.
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

// While someone reads, no card moves: new ones come last, and a card that is read stays although its particle has left it.
function holdOrder(deck, wanted, selected) {
  for (const card of [...deck.children]) if (!wanted.includes(card) && !isRead(card, selected)) card.remove()
  for (const card of wanted) if (card.parentElement !== deck) deck.append(card)
}

// What is read stays where it is on the screen, however many lines the cards above it gain or lose.
function keepPlace(deck, selected, change) {
  const inView = (card) => card.getBoundingClientRect().bottom > 0 && card.getBoundingClientRect().top < innerHeight
  const read = [...deck.children].find((card) => isRead(card, selected) && inView(card))
  const before = read?.getBoundingClientRect().top
  change()
  if (read?.isConnected) deck.closest('[data-testid="stMain"]')?.scrollBy(0, read.getBoundingClientRect().top - before)
}

function draw(root) {
  const data = root.data
  if (root.whole === data.html && root.querySelector(".deck").dataset.deck === data.deck) return
  root.whole = null
  if (root.pressed) return
  const selected = selectedNode()
  const deck = root.querySelector(".deck")
  const isReading = isRead(deck, selected)
  const change = () => fill(root, deck, selected, isReading)
  if (isReading) keepPlace(deck, selected, change)
  else if (data.moves) data.moves(deck, change)
  else change()
  // The height never shrinks, so that nothing below moves up while someone reads.
  if (data.steady) root.style.minHeight = `${Math.max(parseFloat(root.style.minHeight) || 0, root.offsetHeight)}px`
}

function fill(root, deck, selected, isReading) {
  const data = root.data
  const held = root.querySelector(".held")
  const cards = parse(data.html)
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
  const hold = sameDeck && !sorted && isReading
  held.hidden = !hold
  if (hold) holdOrder(deck, wanted, selected)
  else if (!sorted) deck.replaceChildren(...wanted)
  deck.dataset.deck = data.deck
  // null marks a delayed update, so that a later refresh with the same HTML is drawn.
  root.whole = isWhole && !hold ? data.html : null
}
