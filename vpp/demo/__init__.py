"""The built-in demo model: a small reader and writer of plain English rules behind the OpenAI chat protocol.

It is not a language model. It stands apart: nothing of vpp is imported here.
"""

VERSION = "4"
"""Changes whenever the same request may be answered otherwise."""
