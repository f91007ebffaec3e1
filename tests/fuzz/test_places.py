"""A few inputs for each place that takes input from others; ``nox -s fuzz`` tries 100,000.

As there, a place whose inputs take long gets fewer of them.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat.errors import CompatError
from tests.fuzz.canary import watched
from tests.fuzz.places import shown
from tests.fuzz.strangers import ALL_PLACES

MOST = max(place.share for place in ALL_PLACES.values())


@pytest.mark.parametrize("name", ALL_PLACES)
def test_any_input_works_or_is_one_usage_error(name: str) -> None:
    place = ALL_PLACES[name]

    @settings(
        max_examples=max(1, settings().max_examples * place.share // MOST),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(place.inputs)
    def goes_on(example: object) -> None:
        with tempfile.TemporaryDirectory() as folder, suppress(CompatError):
            try:
                with watched(Path(folder)) as inside:
                    place.act(example, inside)
            except CompatError as error:
                shown(f"{error}{error.hint or ''}")
                raise

    goes_on()


@given(st.text())
def test_shown_rejects_escape_characters(text: str) -> None:
    if "\x1b" in text:
        with pytest.raises(AssertionError):
            shown(text)
