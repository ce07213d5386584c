// Sends the reader's zoom to Python, so that a chart redrawn with new numbers begins at the same zoom.
// `ranges` holds the axis ranges by the class of a chart's key; a double click restores the complete axes.
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
