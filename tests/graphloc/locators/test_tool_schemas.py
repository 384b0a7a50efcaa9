"""Schemas of the tools: valid, plain, and true of what the tools take and answer."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from graphloc import Locator
from graphloc.locators.schemas import (
    SchemaFormat,
    function_schemas,
    input_schema,
    output_schema,
)
from graphloc.locators.tools import FUNCTION_NAMES, TOOLS, Tool, ToolBox

ISSUE = "GiftCart.total is wrong"
GOOD = {
    "localize": {"issue": ISSUE, "level": "function", "top_k": 3},
    "search_entity": {"terms": ["Cart"], "kinds": ["class"]},
    "traverse_graph": {"start_entities": ["shop/cart.py"], "direction": "upstream", "hops": 2},
    "retrieve_entity": {"ids": ["shop/cart.py:Cart.total", "shop"]},
    "explain": {"issue": ISSUE, "entity": "shop/prices.py"},
    "reindex": {},
}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: str(tool.name))
def test_the_schemas_are_valid_and_hold_for_a_real_call(tool: Tool, locator: Locator) -> None:
    for schema in (input_schema(tool), output_schema(tool.answer)):
        Draft202012Validator.check_schema(schema)
    arguments = GOOD[tool.name]
    Draft202012Validator(input_schema(tool)).validate(arguments)
    answer = ToolBox(lambda: locator).call(tool.name, arguments).model_dump(mode="json")
    Draft202012Validator(output_schema(tool.answer)).validate(answer)
    assert answer.get("results", ["reindex has none"])


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: str(tool.name))
def test_arguments_are_described_and_need_no_references(tool: Tool) -> None:
    schema = input_schema(tool)
    assert "$ref" not in json.dumps(schema)
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert all(part["description"] for part in properties.values())
    assert all("title" not in part for part in properties.values())


def test_lists_are_bounded_as_lists() -> None:
    schema = json.dumps([input_schema(tool) for tool in TOOLS])
    assert '"maxItems": 50' in schema
    assert '"minItems": 1' in schema


def test_each_shape_has_the_four_functions() -> None:
    openai = function_schemas(SchemaFormat.OPENAI)
    assert [tool["type"] for tool in openai] == ["function"] * 4
    names = [tool["function"]["name"] for tool in openai]  # type: ignore[index]
    assert tuple(names) == FUNCTION_NAMES
    assert all(set(tool["function"]) == {"name", "description", "parameters"} for tool in openai)  # type: ignore[call-overload]
    anthropic = function_schemas(SchemaFormat.ANTHROPIC)
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in anthropic)
    plain = function_schemas(SchemaFormat.JSON_SCHEMA)
    assert all({"input_schema", "output_schema"} <= set(tool) for tool in plain)
