"""The same model in other runtimes, each in a process of its own."""
