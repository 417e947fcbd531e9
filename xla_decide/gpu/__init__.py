"""Programs for GPUs that are not there: what XLA makes of a model for each of them."""
