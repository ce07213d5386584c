// Cards that move say what a step did: a card glides to its new place, a copy comes out of the card that it was copied
// from, and a card without a descendant fades. With many cards, in a hidden tab, or if the reader prefers it, none moves.
const MS = 350
const MANY = 16
const EASE = { duration: MS, easing: "cubic-bezier(.2, 0, 0, 1)" }
const isStill = () => document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches
const slots = (list = "") => list.split(" ").filter(Boolean)

export default function (deck, change) {
  if (isStill() || deck.children.length > MANY) return change()
  const before = [...deck.children].map((card) => ({
    card, key: card.dataset.key, slots: slots(card.dataset.slots), box: card.getBoundingClientRect(),
  }))
  const { height } = deck.parentElement.getBoundingClientRect()
  change()
  if (deck.children.length > MANY) return
  // What is below the cards stays where it is until they have come to rest.
  deck.parentElement.animate({ minHeight: [`${height}px`, `${height}px`] }, MS)
  const lived = new Set()
  for (const card of deck.children) {
    const from = slots(card.dataset.from)
    from.forEach((slot) => lived.add(slot))
    const origin = before.find((each) => each.slots.includes(from[0])) ?? before.find((each) => each.key === card.dataset.key)
    enter(card, origin?.box)
  }
  for (const each of before) if (!each.card.isConnected && !each.slots.some((slot) => lived.has(slot))) fade(deck, each)
}

// A card that rises passes over those that sink. A card that is new waits until what was there has faded.
function enter(card, box) {
  if (!box) return void card.animate({ opacity: [0, 0, 1], offset: [0, 0.5, 1] }, MS)
  const by = box.top - card.getBoundingClientRect().top
  if (Math.abs(by) > 1) card.animate({ transform: [`translateY(${by}px)`, "none"], zIndex: Array(2).fill(by > 0 ? 2 : 1) }, EASE)
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
  ghost.animate({ opacity: [1, 0] }, MS / 2).finished.finally(() => ghost.remove())
}
