"""Streamlit and nothing else: the widgets whose violations are listed."""

import streamlit as st

st.file_uploader("A file")
st.multiselect("Some", ["one", "two"], default=["one"])
st.button("Go", type="primary")
st.code("x = 1")
