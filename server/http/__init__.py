"""Connections over HTTP and WebSocket: the protocols of uvicorn, with the limits that they lack."""
