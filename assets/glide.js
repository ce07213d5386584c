// Cards that move say what a phase did, and none covers another: first those that leave or pass others fade, then the rest
// glides, then what is new or has passed appears. With many cards none moves.
const TIMING = { duration: 450, easing: "ease-in-out" }
const MANY = 16

export default function (deck, change) {
  if (deck.children.length > MANY) return change()
  const place = deck.parentElement.getBoundingClientRect()
  const before = new Map([...deck.children].map((card) => [card.dataset.key, { ghost: card.cloneNode(true), box: card.getBoundingClientRect() }]))
  change()
  const cards = [...deck.children]
  // A card without a place of its own takes that of the card it was made from, if that one is gone.
  const isGone = (key) => before.has(key) && !cards.some((card) => card.dataset.key === key)
  const from = ({ dataset: { key, from } }) => (before.has(key) ? key : from?.split(" ").find(isGone))
  const gliding = inOrder(cards.filter(from), (card) => before.get(from(card)).box.top)
  for (const card of cards)
    if (gliding.includes(card)) glide(card, before.get(from(card)).box)
    else card.animate({ opacity: [0, 0, 0, 1] }, TIMING)
  const stays = gliding.map(from)
  for (const [key, { ghost, box }] of before) if (!stays.includes(key)) fade(deck, ghost, box, place)
}

// The most cards that keep their order. top: where a card was.
function inOrder(cards, top) {
  const longest = (chains) => chains.reduce((one, other) => (other.length > one.length ? other : one), [])
  const chains = []
  for (const card of cards) chains.push([...longest(chains.filter((chain) => top(chain.at(-1)) < top(card))), card])
  return longest(chains)
}

// What a card has gained in height comes into view as it glides.
function glide(card, box) {
  const now = card.getBoundingClientRect()
  const [at, cut] = [`translateY(${box.top - now.top}px)`, `inset(0 0 ${Math.max(0, now.height - box.height)}px)`]
  if (at !== "translateY(0px)") card.animate({ transform: [at, at, "none", "none"], clipPath: [cut, cut, "inset(0)", "inset(0)"] }, TIMING)
}

function fade(deck, ghost, box, place) {
  ghost.classList.add("ghost")
  ghost.inert = true
  ghost.style.cssText += `;top:${box.top - place.top}px;left:${box.left - place.left}px;width:${box.width}px`
  deck.before(ghost)
  ghost.animate({ opacity: [1, 0, 0, 0] }, TIMING).finished.finally(() => ghost.remove())
}
