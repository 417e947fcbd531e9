"""The report: what was recorded here, beside published figures and other machines."""
