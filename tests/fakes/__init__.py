"""Real parts in a small size, for tests: a scripted chat server."""
