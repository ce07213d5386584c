// Requests a rerun of its part of the page when a pulse says that the part is due. The request comes from the part, so
// Streamlit reruns only its fragment, and a click elsewhere at the same moment keeps its effect. It waits until the page
// is idle: Streamlit sends all values set within one turn of the event loop together, as if all came from here.
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
