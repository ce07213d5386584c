"""The app's entry: page settings, navigation, login, the list of runs."""

import streamlit as st

from pages.parts import blocks, frame, person


def draw() -> None:
    st.set_page_config(page_title="VPP", page_icon=str(blocks.ASSETS / "icon.svg"), layout="wide")
    st.logo(str(blocks.ASSETS / "logo.svg"), size="large", icon_image=str(blocks.ASSETS / "icon.svg"))
    page = st.navigation(
        [
            st.Page("pages/new_run.py", title="New run", default=True),
            st.Page("pages/watch.py", title="Watch"),
            st.Page("pages/posterior.py", title="Posterior"),
            st.Page("pages/disagreement.py", title="Disagreement"),
            st.Page("pages/compare.py", title="Compare"),
            st.Page("pages/report.py", title="Report", visibility="hidden"),
            paper := st.Page("pages/paper.py", title="Paper", visibility="hidden"),
        ],
        position="sidebar" if person.is_let_in() else "hidden",
    )
    st.set_page_config(page_title=f"{page.title} · VPP")
    person.sign_in()
    with st.sidebar:
        frame.list_runs()
        person.sign_out()
        st.page_link(paper, label="The paper’s claims")
    st.session_state["frame.entered"] = True
    page.run()


if __name__ == "app":  # `streamlit run` imports this file for its server, which then runs it for each visitor
    from starlette.middleware import Middleware

    from pages.parts.frame import warming
    from pages.parts.middleware import Guard

    app = st.App(__file__, middleware=[Middleware(Guard)], lifespan=warming)
else:
    draw()
