"""Models: where answers come from."""
