// Patch a node in place until it equals another: focus, selection, scrolling and open folds survive. Children with keys are
// matched by them, so that a row or a fold that stays keeps the focus; others by index, if there are as many.
const keyOf = (node) => node.dataset?.row ?? node.dataset?.under ?? node.dataset?.key ?? node.dataset?.fold ?? node.dataset?.part ?? null

export default function (old, next) {
  if (old.isEqualNode(next)) return
  if (old.nodeName !== next.nodeName) return old.replaceWith(next)
  if (old.nodeType === Node.TEXT_NODE) return void (old.data = next.data)
  for (const { name } of [...old.attributes])
    if (name !== "open" && !next.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  const before = [...old.childNodes]
  const after = [...next.childNodes]
  if (after.length && after.every((child) => keyOf(child) !== null)) {
    const known = new Map(before.map((child) => [keyOf(child), child]))
    for (const child of before) if (!after.some((other) => keyOf(other) === keyOf(child))) child.remove()
    after.forEach((child, i) => {
      const same = known.get(keyOf(child)) || child
      if (old.childNodes[i] !== same) old.insertBefore(same, old.childNodes[i] || null)
      if (same !== child) main(same, child)
    })
  } else if (before.length === after.length) before.forEach((child, i) => main(child, after[i]))
  else old.replaceChildren(...after)
}
