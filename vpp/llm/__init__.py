"""Everything said to and heard from a language model: endpoint, cache, templates, answers, and the two roles."""
