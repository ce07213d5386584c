// Says on the page what a part of it is due for, once for each thing it is due for; that part's bell hears it.
export default function ({ data, parentElement }) {
  if (parentElement.dataset.told === data.due) return
  parentElement.dataset.told = data.due
  document.dispatchEvent(new CustomEvent(`vpp.due.${data.part}`, { detail: data.due }))
}
