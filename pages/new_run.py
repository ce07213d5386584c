"""New run: a table goes in, competing hypotheses about one column come out."""

from pages.parts import frame, opening


def page() -> None:
    opening.introduce()
    # Late: the form needs pandas, and the first paint should not wait for it.
    from pages.parts import form

    form.draw()


frame.enter()
page()
