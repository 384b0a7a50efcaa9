"""The tools as JSON schemas, in the shapes that the interfaces of models take."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel

from graphloc.locators.arguments import PageArguments
from graphloc.locators.tools import FUNCTION_NAMES, Tool, get_tool

Json = Mapping[str, object]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SchemaFormat(StrEnum):
    """Whose shape."""

    OPENAI = "openai"
    """``tools`` of chat completions (https://platform.openai.com/docs/guides/function-calling)."""
    ANTHROPIC = "anthropic"
    """``tools`` of messages (https://docs.anthropic.com/en/docs/build-with-claude/tool-use)."""
    JSON_SCHEMA = "json-schema"
    """A schema of the arguments and one of the answer for each tool."""


def function_schemas(shape: SchemaFormat) -> list[Json]:
    """Return the tools that function calling is given."""
    tools = [get_tool(name) for name in FUNCTION_NAMES]
    return [_SHAPES[shape](tool) for tool in tools]


def input_schema(tool: Tool) -> dict[str, object]:
    """Return the schema of a tool's arguments, without references, as some models need it."""
    schema = tool.arguments.model_json_schema()
    definitions = schema.pop("$defs", {})
    inlined = _inline(schema, definitions)
    assert isinstance(inlined, dict)
    inlined.pop("description", None)
    properties = inlined["properties"]
    assert isinstance(properties, dict)
    # What bounds the answer is inherited, so it comes first, but matters least.
    for name in [known for known in PageArguments.model_fields if known in properties]:
        properties[name] = properties.pop(name)
    return inlined


def output_schema(answer: type[BaseModel]) -> dict[str, object]:
    """Return the schema of a tool's answer."""
    return answer.model_json_schema(mode="serialization")


def _inline(schema: object, definitions: Mapping[str, object]) -> object:
    """Replace references by what they refer to, and drop titles, which repeat the names."""
    if isinstance(schema, list):
        return [_inline(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        meant = definitions[reference.rpartition("/")[2]]
        assert isinstance(meant, dict)
        schema = {k: v for k, v in meant.items() if k != "description"} | {
            k: v for k, v in schema.items() if k != "$ref"
        }
    return {
        key: _inline(value, definitions)
        for key, value in schema.items()
        # A property may be called title; a title is a text.
        if not (key == "title" and isinstance(value, str))
    }


def _openai(tool: Tool) -> Json:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": input_schema(tool),
    }
    return {"type": "function", "function": function}


def _anthropic(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": input_schema(tool),
    }


def _json_schema(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {"$schema": _DIALECT, **input_schema(tool)},
        "output_schema": {"$schema": _DIALECT, **output_schema(tool.answer)},
    }


_SHAPES = {
    SchemaFormat.OPENAI: _openai,
    SchemaFormat.ANTHROPIC: _anthropic,
    SchemaFormat.JSON_SCHEMA: _json_schema,
}
