"""The method's options, the common ones open and the rest folded away."""

import streamlit as st

from vpp.errors import InputError
from vpp.reporting import markup
from vpp.settings import METHOD_NAMES, Config, option_docs, preset

ABOUT = {
    "smc": "Reweights, resamples and rewrites. The default, best on hard rules.",
    "mh": "Ten chains; a change is kept only if the data like it.",
    "vml": "One hypothesis, every change taken. The baseline.",
}


def choose_config(*, prior: str, is_task: bool) -> Config:
    """Asks for the method and its options; a task of the paper brings its prior, and tau 1."""
    docs = option_docs()
    method = st.radio(
        "Method",
        list(METHOD_NAMES),
        format_func=METHOD_NAMES.__getitem__,
        captions=[ABOUT[name] for name in METHOD_NAMES],
        key="new.method",
        horizontal=True,
        label_visibility="collapsed",
    )
    base = preset("recommended")
    one, two, three, four = st.columns(4)
    particles = one.number_input("Particles K", 1, 100, base.particles, key="new.particles", disabled=method == "vml")
    epochs = two.number_input("Epochs", 1, 50, base.epochs, key="new.epochs", help=docs["epochs"])
    batch = three.number_input("Batch", 1, 200, base.batch_size, key="new.batch", help=docs["batch_size"])
    seed = four.number_input("Seed", 0, 2**31 - 1, base.seed, key="new.seed", help=docs["seed"])
    words = st.text_area(
        "What you already believe, in plain words (the prior, optional)",
        value=prior,
        key=f"new.prior.{prior}",
        height=80,
        placeholder="Petal size matters more than sepal size.",
    )
    with st.expander("More options"):
        chosen = preset(st.selectbox("Preset", ("recommended", "paper"), key="new.preset"))
        one, two, three = st.columns(3)
        buffer = one.number_input("Buffer B", 1, 1000, base.buffer_size, key="new.buffer", help=docs["buffer_size"])
        final = two.selectbox(
            "Final weights",
            ("rescored", "train", "paper"),
            index=("rescored", "train", "paper").index(chosen.final_weights),
            key=f"new.final.{chosen.final_weights}",
            help=docs["final_weights"],
        )
        tau_default = "1.0" if is_task else chosen.tau
        tau = three.text_input("Regression’s tau", tau_default, key=f"new.tau.{tau_default}", help=docs["tau"])
        epsilon = one.number_input("Epsilon", 0.001, 0.5, base.epsilon, key="new.epsilon", help=docs["epsilon"])
        ess = two.number_input(
            "Resample below (share of K)", 0.0, 1.0, base.ess_threshold, key="new.ess", help=docs["ess_threshold"]
        )
        every = three.number_input(
            "Evaluate every n steps", 0, 1000, base.evaluate_every, key="new.every", help=docs["evaluate_every"]
        )
    try:
        return Config(
            method=method,
            particles=int(particles),
            epochs=int(epochs),
            batch_size=int(batch),
            seed=int(seed),
            prior=words.strip(),
            buffer_size=int(buffer),
            final_weights=final,
            tau=tau.strip(),
            epsilon=float(epsilon),
            ess_threshold=float(ess),
            evaluate_every=int(every),
        )
    except InputError as error:
        st.html(markup.block(markup.state("This option cannot be", str(error), failed=True)))
        st.stop()
