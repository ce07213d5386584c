"""Conversations with a language model: endpoint, cache, templates, answers, and the two roles."""
