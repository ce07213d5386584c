"""Runs tests that are coroutines."""

from tests.llm.conftest import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
