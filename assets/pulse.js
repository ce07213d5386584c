// Sends an event to the bell of a part that is due, once per reason.
export default function ({ data, parentElement }) {
  if (parentElement.dataset.told === data.due) return
  parentElement.dataset.told = data.due
  document.dispatchEvent(new CustomEvent(`vpp.due.${data.part}`, { detail: data.due }))
}
