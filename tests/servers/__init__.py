"""Whole runs against servers that nobody here wrote: vLLM, transformers serve, LiteLLM. `make test-servers` runs them.

Pytest leaves this folder out unless it is named: the servers' environments take gigabytes and minutes.
"""
