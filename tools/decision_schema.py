"""Write docs/decision.schema.json, which describes the JSON of a decision."""

from pathlib import Path

from xla_decide.decision_file import schema

SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "decision.schema.json"

if __name__ == "__main__":
    SCHEMA.write_bytes(schema())
