"""Runs tests that are coroutines, each in an event loop of its own."""

import asyncio
import inspect

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    signature = inspect.signature(pyfuncitem.obj)
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in signature.parameters}))
    return True
