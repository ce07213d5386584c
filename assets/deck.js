// The live deck. Cards are patched in place, so that open folds, focus and selections survive; the order is held, and a
// card stays, while someone reads it. Python sends escaped HTML.
function isRead(deck, selected) {
  const isPointed = deck.matches(":hover") && deck.closest(".vpp").hasMoved // a pointer left there by a click reads nothing
  return deck.contains(selected) || isPointed || deck.querySelector("details[open]") || deck.contains(document.activeElement)
}

// Node at which the selection begins, or null. Read once per refresh: after a change it would force a layout.
function selectedNode() {
  const selection = document.getSelection()
  return selection && !selection.isCollapsed ? selection.anchorNode : null
}

async function copyClicked(root, event) {
  const button = event.target.closest("button.copy")
  if (!button) return
  const status = root.querySelector(".status")
  const done = await navigator.clipboard?.writeText(button.dataset.copy).then(() => true, () => false)
  button.textContent = status.textContent = done ? "Copied" : "Not copied: select the words"
  setTimeout(() => {
    button.textContent = "Copy"
    status.textContent = ""
  }, 2000)
}

function build(parent) {
  const root = document.createElement("div")
  root.className = "vpp"
  root.innerHTML = '<p class="cap held" hidden>The order is held while you read.</p><div class="deck"></div>' +
    '<span class="status sr" role="status"></span>'
  root.addEventListener("click", (event) => copyClicked(root, event))
  root.addEventListener("pointermove", () => (root.hasMoved = true))
  parent.append(root)
  return root
}

// While someone reads, no card moves: new ones come last. A card without its hypothesis stays if words or a fold of it are held.
function holdOrder(deck, cards, selected) {
  for (const card of [...deck.children]) if (!cards.includes(card) && !card.contains(selected) && !card.querySelector("details[open]")) card.remove()
  for (const card of cards) if (card.parentElement !== deck) deck.append(card)
}

// What is read stays where it is on the screen, however many lines the cards above it gain or lose.
function keepPlace(deck, selected, change) {
  const inView = (card) => card.getBoundingClientRect().bottom > 0 && card.getBoundingClientRect().top < innerHeight
  const card = [...deck.children].find((card) => isRead(card, selected) && inView(card))
  const before = card?.getBoundingClientRect().top
  change()
  if (card?.isConnected) deck.closest('[data-testid="stMain"]')?.scrollBy(0, card.getBoundingClientRect().top - before)
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".vpp") ?? build(parentElement)
  const deck = root.querySelector(".deck")
  if (root.html === data.html && deck.dataset.deck === data.deck) return
  root.html = data.html
  const selected = selectedNode()
  const isHeld = isRead(deck, selected) && deck.dataset.deck === data.deck
  const change = () => fill(root, deck, data, selected, isHeld)
  if (isHeld) keepPlace(deck, selected, change)
  else if (data.moves) data.moves(deck, change)
  else change()
  // The height never shrinks before the end, so that nothing below moves up while someone reads.
  root.style.minHeight = data.steady ? `${Math.max(parseFloat(root.style.minHeight) || 0, root.offsetHeight)}px` : ""
}

// A card stays as it is while words that change are selected, or a fold is open that its next state does not have.
function isKept(card, next, selected) {
  const [before, after] = [card, next].map((each) => each.querySelector(".hyp"))
  const isMissing = (fold) => !next.querySelector(`details[data-fold="${CSS.escape(fold.dataset.fold)}"]`)
  if (before?.contains(selected) && !before.isEqualNode(after)) return true
  return [...card.querySelectorAll("details[data-fold][open]")].some(isMissing)
}

function fill(root, deck, data, selected, isHeld) {
  const holder = document.createElement("template")
  holder.innerHTML = data.html
  const known = new Map([...deck.children].map((card) => [card.dataset.key, card]))
  const cards = [...holder.content.querySelectorAll("[data-key]")].map((next) => {
    const card = known.get(next.dataset.key)
    if (!card) return next
    if (!isHeld || !isKept(card, next, selected)) patch(card, next)
    return card
  })
  const isSorted = cards.every((card, i) => deck.children[i] === card) && deck.children.length === cards.length
  root.querySelector(".held").hidden = isSorted || !isHeld
  if (isHeld) holdOrder(deck, cards, selected)
  else if (!isSorted) deck.replaceChildren(...cards)
  deck.dataset.deck = data.deck
}
