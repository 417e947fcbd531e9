"""Does XLA pay for a model, with its shapes, on this machine? One call, one page."""
