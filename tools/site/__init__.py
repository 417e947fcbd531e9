"""The site: the README, the notebooks and the reference of the helpers, as HTML."""
