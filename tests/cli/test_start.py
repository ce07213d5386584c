"""What a command has imported by when: the time to a help text and to a run's first call."""

import subprocess
import sys
from pathlib import Path

import pytest

from vpp.cli import main

ROOT = Path(__file__).parents[2]


def imported(code: str) -> set[str]:
    """Modules, and the packages that they lie in, after a fresh interpreter has run the code."""
    text = "\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code + text], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def helped(*words: str) -> str:
    return f"import contextlib\nfrom vpp.cli import main\nwith contextlib.suppress(SystemExit): main({list(words)})"


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["bench", "--help"], ["no-such-command"]])
def test_a_help_text_imports_no_other_package(words: list[str]) -> None:
    heavy = {"asyncio", "numpy", "pydantic", "openai", "vpp.runs", "vpp.inference", "vpp.llm.endpoint"}
    assert imported(helped(*words)) & heavy == set()


def test_a_run_imports_nothing_before_its_first_call_that_comes_after_it() -> None:
    later = {"pandas", "sklearn", "streamlit", "charset_normalizer", "vpp.reporting", "vpp.drawing"}
    assert imported("import vpp.cli.running, vpp.llm.client") & (later | {"vpp.cli.stored", "vpp.bench"}) == set()


def test_the_list_of_commands_says_how_to_continue_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "run it again to continue a stopped sweep" in " ".join(capsys.readouterr().out.split())
