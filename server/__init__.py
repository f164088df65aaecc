"""The program: HTTP, settings, the command line, observability, and the GraphQL explorer."""
