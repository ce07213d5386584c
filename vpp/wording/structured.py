"""Words for how a run's server holds the learner's answers to a form."""

from vpp.runs.spec import RunSpec

CARRIER_WORDS = {
    "structured_outputs": "structured_outputs (vLLM)",
    "grammar": "grammar (llama.cpp)",
    "json_schema": "json_schema (response_format)",
}


def structured_words(spec: RunSpec) -> str:
    """The option and the field that carries it; empty for free text that was asked for and for the demo model."""
    option, carrier = spec.endpoint.structured, CARRIER_WORDS.get(spec.structured_as)
    if option == "off" or (option == "auto" and spec.endpoint.is_demo):
        return ""
    if option != "auto":
        return f"{option} through {carrier or CARRIER_WORDS['structured_outputs']}, where the server honours it"
    if spec.structured_as == "off":
        return "none: the server honours no field for them, found by the check"
    return f"{carrier}, found by the check" if carrier else "auto: the server was not tested yet"
