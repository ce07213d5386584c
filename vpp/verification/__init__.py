"""Verification of a run's files without a model, by the samplers' arithmetic but not their code."""
