"""Helpers and notebooks among other versions: `make test-versions`."""
