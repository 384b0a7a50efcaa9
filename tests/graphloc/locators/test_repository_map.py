"""The map of a repository: what it shows, and that it stays inside its room."""

from __future__ import annotations

import pytest

from graphloc import Locator
from graphloc.locators.tokens import count_tokens


def test_the_map_shows_what_is_used_most_with_what_it_is_in(locator: Locator) -> None:
    drawn = locator.repository_map(60)
    lines = drawn.text.split("\n")
    assert "shop/prices.py" in lines
    assert any("def discount_of(item)" in line for line in lines)
    assert 0 < drawn.n_shown < drawn.n_entities


@pytest.mark.parametrize("max_tokens", [1, 20, 50, 100, 10_000])
def test_the_map_fits(locator: Locator, max_tokens: int) -> None:
    assert count_tokens(locator.repository_map(max_tokens).text) <= max_tokens


def test_a_large_enough_map_has_everything_but_tests(locator: Locator) -> None:
    drawn = locator.repository_map(10_000)
    assert drawn.n_shown == drawn.n_entities == 10
    assert "test_cart" not in drawn.text


def test_methods_stand_under_their_class_in_order_of_lines(locator: Locator) -> None:
    text = locator.repository_map(10_000).text
    cart = text.index("class Cart")
    assert cart < text.index("def __init__") < text.index("def add") < text.index("class GiftCart")
