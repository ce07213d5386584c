"""Streamlit and nothing else: one widget, named in the address."""

import streamlit as st

match st.query_params["widget"]:
    case "file_uploader":
        st.file_uploader("A file")
    case "multiselect":
        st.multiselect("Some", ["one", "two"], default=["one"])
    case "button":
        st.button("Go", type="primary")
    case "code":
        st.code("x = 1")
