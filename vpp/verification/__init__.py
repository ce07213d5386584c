"""What a run's files say, derived once more without a model: the samplers' arithmetic, not their code."""
