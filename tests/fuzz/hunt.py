"""Atheris on one target: `python -m tests.fuzz.hunt TARGET [OPTION…] CORPUS`, with the options of libFuzzer.

Atheris instruments the Python code of vpp, not the compiled code of pydantic and pyarrow.
"""

import sys
import warnings

import atheris

with atheris.instrument_imports(include=["vpp"]):
    from tests.fuzz.targets import BY_NAME

if __name__ == "__main__":
    warnings.simplefilter("error")
    target = BY_NAME[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target.check)
    atheris.Fuzz()
