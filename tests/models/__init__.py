"""Real language models on this machine: their weights, prompts measured on them, and whole runs against them.

Pytest leaves this folder out unless it is named: a run takes minutes on a processor. `make models` gets the weights.
"""
