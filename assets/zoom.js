// What a reader zoomed to, told to Python: a chart whose numbers change is drawn anew, and begins there.
// `ranges` holds a chart's own axes' ends by the class of its key; a double click takes the whole axes back.
const PLOTS = ".js-plotly-plot"

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".zoom") ?? build(parentElement)
  root.ranges = data.ranges
  root.tell = (key, ends) => {
    const { [key]: _, ...others } = root.ranges
    root.ranges = ends ? { ...others, [key]: ends } : others
    setStateValue("ranges", root.ranges)
  }
  listen(root)
}

function build(parent) {
  const root = document.createElement("span")
  root.className = "zoom"
  root.hidden = true
  parent.append(root)
  const watched = new MutationObserver(() => (root.isConnected ? listen(root) : watched.disconnect()))
  watched.observe(document.querySelector('[data-testid="stMain"]'), { childList: true, subtree: true })
  return root
}

function listen(root) {
  for (const plot of document.querySelectorAll(PLOTS)) {
    const key = [...(plot.closest('[class*="st-key-watch-"]')?.classList ?? [])].find((name) => name.startsWith("st-key-"))
    if (!key || !plot.on || plot.dataset.zoom) continue
    plot.dataset.zoom = key
    plot.on("plotly_relayout", (moved) => {
      const ends = Object.fromEntries(Object.entries(moved).filter(([name]) => /^[xy]axis\.range\[[01]\]$/.test(name)))
      if (Object.keys(ends).length) root.tell(key, { ...root.ranges[key], ...ends })
    })
    plot.on("plotly_doubleclick", () => root.tell(key, null))
  }
}
