// Stands in a part of the page and asks for it when a pulse says that it is due. As the part itself asks, its own
// fragment is run: a click elsewhere at the same moment keeps its effect. It asks when the page is idle, since what
// is told within one turn of the page is sent together, as if all of it came from here.
const whenIdle = window.requestIdleCallback ?? setTimeout

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.ask = (due) => whenIdle(() => setTriggerValue("due", due.detail))
  if (parentElement.dataset.hears) return
  parentElement.dataset.hears = data.part
  const asked = (due) => parentElement.ask(due)
  document.addEventListener(`vpp.due.${data.part}`, asked)
  return () => {
    delete parentElement.dataset.hears
    document.removeEventListener(`vpp.due.${data.part}`, asked)
  }
}
