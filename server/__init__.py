"""The outside world: HTTP, the explorer, settings, the command line. The only room that knows the environment."""
