"""A few inputs for each place where others have a say; ``nox -s fuzz`` tries a hundred thousand."""

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


@pytest.mark.parametrize("name", ALL_PLACES)
def test_whatever_is_given_the_run_goes_on_or_one_error_of_use_says_why(name: str) -> None:
    place = ALL_PLACES[name]

    @settings(
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
def test_no_place_has_lost_its_check(text: str) -> None:
    if "\x1b" in text:
        with pytest.raises(AssertionError):
            shown(text)
