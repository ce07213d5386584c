// Told of every document before its own scripts run: an element, a word or a call that only a hostile text can have made.
(() => {
  const MARK = "pwnd"
  const WORDS = /*WORDS*/ []
  const ADDRESSES = ["src", "srcset", "href", "xlink:href", "action", "formaction", "poster", "data", "style", "background", "srcdoc"]
  const found = (window.__found = [])
  const roots = new Set()
  const tell = (what, node) => found.length < 50 && found.push(`${what}: ${(node?.outerHTML ?? node?.data ?? "").slice(0, 300)}`)
  window.__pwnd = () => tell("a script ran")

  // The app's own links carry a run's id; they stay within the app.
  const isOwnLink = (element, value) =>
    element.closest('[data-testid^="stPageLink"], [data-testid="stSidebarNav"]') && new URL(value, location.href).origin === location.origin

  function lookAt(element) {
    for (const { name, value } of element.attributes) {
      if (!value.includes(MARK)) continue
      if (name.startsWith("on")) tell(`handler ${name}`, element)
      else if (ADDRESSES.includes(name) && !isOwnLink(element, value)) tell(`address ${name}`, element)
    }
    if (/^(script|style|iframe|object|embed|link|base|meta)$/i.test(element.localName) && element.textContent.includes(MARK))
      // A report keeps its charts' numbers in a script that is data; the page's own style sheets hold no text of a run.
      if (element.getAttribute("type") !== "application/json") tell("an element that acts", element)
    if (element.localName.startsWith(MARK)) tell("a tag of the text's own", element)
    if (element.classList.contains("katex")) tell("mathematics", element)
    if (element.shadowRoot) watch(element.shadowRoot)
    if (element.childElementCount) return
    const words = element.textContent.trim()
    if (WORDS.includes(words)) tell("markup was read", element)
    if (words === "skull" || words === "\u{1F480}") tell("a directive was read", element)
  }

  function lookIn(node) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.data.includes(`<${MARK}entity>`)) tell("an entity was read", node)
      if (node.parentElement) lookAt(node.parentElement)
      return
    }
    if (node.nodeType === Node.ELEMENT_NODE) lookAt(node)
    if (!node.querySelectorAll) return
    for (const element of node.querySelectorAll("*")) lookAt(element)
    if ((node.textContent ?? "").includes(`<${MARK}entity>`)) tell("an entity was read", node)
  }

  function watch(root) {
    if (roots.has(root)) return
    roots.add(root)
    const seen = (changes) => {
      for (const { type, target, addedNodes } of changes) {
        if (type === "childList") addedNodes.forEach(lookIn)
        else if (type === "attributes") lookAt(target)
        else lookIn(target)
      }
    }
    new MutationObserver(seen).observe(root, { childList: true, subtree: true, attributes: true, characterData: true })
    lookIn(root)
  }

  const attach = Element.prototype.attachShadow
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options)
    watch(root)
    return root
  }
  window.__look = () => {
    for (const root of roots) lookIn(root)
    return found
  }
  watch(document)
})()
