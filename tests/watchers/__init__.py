"""Many people watching live runs: `make watchers`. What each saw and when, and what that took of the server."""
