"""Commands on servers: `app`, `demo-server` and `check-endpoint`."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from vpp.cli.running import endpoint_of
from vpp.cli.system import dotenv, keys, print_json
from vpp.environment import Environment, app_folder
from vpp.errors import InputError
from vpp.findings.status import verdict
from vpp.runs.preparation import NO_ENDPOINT, check_limits
from vpp.runs.session import Checked, checking
from vpp.runs.spec import to_json


def app(options: Namespace) -> NoReturn:
    """Replace this process by the app's server, until it is interrupted. Variables in ./.env apply to it too."""
    variables = {**dotenv(), **os.environ}
    folders = Environment.of(variables)
    variables |= {"VPP_RUNS_DIR": str(folders.runs_dir.absolute()), "VPP_CACHE_DIR": str(folders.cache_dir.absolute())}
    print(f"runs are saved in {variables['VPP_RUNS_DIR']}", file=sys.stderr, flush=True)
    served = ["--server.port", str(options.port), "--server.address", options.host, *options.streamlit]
    if (secrets := Path(".streamlit", "secrets.toml").absolute()).exists():
        served += ["--secrets.files", str(secrets)]
    os.chdir(app_folder())  # Streamlit reads .streamlit/config.toml from there
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", "app.py", *served], variables)


def demo_server(options: Namespace) -> NoReturn:
    """Become the demo model's server, which runs until it is interrupted."""
    os.execv(sys.executable, [sys.executable, "-m", "vpp.demo", *options.words])


def check_endpoint(options: Namespace) -> int:
    spec = endpoint_of(options)
    if not spec.is_started_here and not spec.base_url:
        raise InputError(NO_ENDPOINT)
    check_limits(spec)
    to_json(spec)
    all_checked: list[Checked] = []
    for checked in checking(spec, keys()):
        if not options.json:
            if not all_checked or all_checked[-1].roles != checked.roles:
                print(f"{' and '.join(checked.roles)}: {checked.model or 'no model named'} at {checked.base_url}")
            finding = checked.finding
            print(f"  {finding.mark:<5}  {finding.name}: {finding.words}", flush=True)
        all_checked.append(checked)
    if options.json:
        findings = [asdict(each) for each in all_checked]
        print_json({"usable": _is_usable(all_checked), "verdict": verdict(all_checked)[1], "findings": findings})
    else:
        print(verdict(all_checked)[1])
    if not spec.model and all(each.finding.mark != "fails" for each in all_checked):
        return 2
    return 0 if _is_usable(all_checked) else 3


def _is_usable(all_checked: Sequence[Checked]) -> bool:
    """Return whether a run could start: no check fails, and every server's model has answered."""
    answered = {each.roles for each in all_checked if each.finding.name == "answers"}
    return all(each.finding.mark != "fails" and each.roles in answered for each in all_checked)
