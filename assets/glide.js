// Cards that move say what a phase did: a card glides to its new place, a new one comes out of the card it was made from,
// and one that is dropped fades. With many cards, in a hidden tab, or if the reader prefers it, none moves.
const MS = 450
const MANY = 16
const isStill = () => document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches

export default function (deck, change) {
  if (isStill() || deck.children.length > MANY) return change()
  const before = new Map([...deck.children].map((card) => [card.dataset.key, { card, box: card.getBoundingClientRect() }]))
  change()
  for (const card of deck.children) {
    const from = (card.dataset.from ?? "").split(" ")[0]
    enter(card, (before.get(card.dataset.key) ?? before.get(from))?.box)
  }
  for (const each of before.values()) if (!each.card.isConnected) fade(deck, each)
}

// A card that rises passes over those that sink. A card without an origin waits until what was there has faded.
function enter(card, box) {
  if (!box) return void card.animate({ opacity: [0, 0, 1], offset: [0, 0.5, 1] }, MS)
  const by = box.top - card.getBoundingClientRect().top
  if (Math.abs(by) > 1) card.animate({ transform: [`translateY(${by}px)`, "none"], zIndex: Array(2).fill(by > 0 ? 2 : 1) }, { duration: MS, easing: "ease-out" })
}

// A copy of the card stays at its old place, under the others, while it fades; it is no card of the deck any more.
function fade(deck, { card, box }) {
  const place = deck.parentElement.getBoundingClientRect()
  const ghost = card.cloneNode(true)
  ghost.removeAttribute("data-key")
  ghost.classList.add("ghost")
  ghost.ariaHidden = "true"
  ghost.inert = true
  ghost.style.cssText += `;top:${box.top - place.top}px;left:${box.left - place.left}px;width:${box.width}px`
  deck.before(ghost)
  ghost.animate({ opacity: [1, 0] }, MS).finished.finally(() => ghost.remove())
}
