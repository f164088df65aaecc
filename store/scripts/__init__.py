"""The Lua scripts of the store, and the registry that names them."""
