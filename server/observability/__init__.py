"""What operators see of a running server: logs, metrics, traces, health, and the memory of the store."""
