"""GPUs to compile for: what is known of each."""

import re

import pytest

import xla_decide as xd
from xla_decide.gpu.targets import target_named


def test_each_target_has_a_source_and_shows_itself():
    found = xd.targets()
    assert [one.name for one in found.cards] == ["T4", "A100", "H100", "H200", "B200"]
    for card in found.cards:
        assert card.source.startswith("https://") and card.source in str(found)
        assert 1e10 < card.memory < 1e12 and 1e11 < card.bandwidth < 1e13


def test_a_description_holds_all_that_is_known():
    text = target_named("h100").description
    assert "{ major: 9 minor: 0 feature_extension: ACCELERATED_FEATURES }" in text
    assert "core_count: 132" in text and 'device_description_str: "NVIDIA H100 80GB HBM3"' in text
    assert "feature_extension: NONE" in target_named("T4").description
    assert text.count("{") == text.count("}") and not re.search(r"\{\w+\}", text)


@pytest.mark.parametrize("name", ["H3000", "", 100])
def test_a_target_that_is_not_known_is_answered_with_those_that_are(name):
    with pytest.raises(ValueError, match=r"one of T4, A100, H100, H200, B200, not"):
        target_named(name)
