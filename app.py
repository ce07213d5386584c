"""The app's frame: page settings, navigation, the list of runs."""

import streamlit as st

from pages.parts import frame, run_list

st.set_page_config(page_title="VPP", page_icon=str(frame.ASSETS / "icon.svg"), layout="wide")
st.logo(str(frame.ASSETS / "logo.svg"), size="large", icon_image=str(frame.ASSETS / "icon.svg"))
frame.stylesheet()
frame.warm_up()
page = st.navigation(
    [
        st.Page("pages/new_run.py", title="New run", default=True),
        st.Page("pages/watch.py", title="Watch"),
        st.Page("pages/posterior.py", title="Posterior"),
        st.Page("pages/disagreement.py", title="Disagreement"),
        st.Page("pages/compare.py", title="Compare"),
        st.Page("pages/paper.py", title="Paper"),
        st.Page("pages/report.py", title="Report"),
        st.Page("pages/gallery.py", title="Gallery", visibility="hidden"),
    ]
)
st.set_page_config(page_title=f"{page.title} · VPP")
frame.check_environment()
with st.sidebar:
    run_list.draw()
st.session_state["frame.entered"] = True
page.run()
