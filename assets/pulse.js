// Asks for the part of a page that is due, once for each thing it is due for: an element that stays the same is not
// sent again, so that the part itself is drawn only when it is new.
export default function ({ data, parentElement, setTriggerValue }) {
  if (data.due === null || parentElement.dataset.asked === data.due) return
  parentElement.dataset.asked = data.due
  setTriggerValue("due", data.due)
}
