"""The project's own chores behind `make`: from the root, each is `python -m tools.NAME`."""
