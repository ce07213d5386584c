"""Head to head with what else a user might pick, on the same simulated endpoint: `make rivals`."""
