"""The built-in demo model: reads and writes rules in plain English behind the OpenAI chat protocol.

It is not a language model. It imports nothing else from vpp.
"""

VERSION = "10"
"""Changes with every change of an answer."""
