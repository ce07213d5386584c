"""A trial of ideas: whether the learner follows them, what each clause is worth, and what no rule is worth."""
