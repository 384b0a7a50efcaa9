"""Replies that have to be JSON of a given schema: asking for them, checking them, mending them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphloc.llm.errors import ModelSettingsError
from graphloc.llm.jsontext import find_json
from repair.ports import ChatReply, ChatRequest, JsonObject, JsonValue, Message, OutputSchema, Role

_NAME_CHARS = re.compile(r"[^A-Za-z0-9_-]")


def response_format(output: OutputSchema) -> JsonObject:
    """Return the ``response_format`` that asks a server for `output`."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": _NAME_CHARS.sub("_", output.name)[:64],
            "schema": output.schema,
            "strict": is_strict(output.schema),
        },
    }


def with_instructions(messages: Sequence[Message], output: OutputSchema) -> tuple[Message, ...]:
    """Return the messages with the schema spelt out at their very end, behind what is cached."""
    schema = json.dumps(output.schema, ensure_ascii=False)
    wish = (
        "Answer with one JSON value and nothing else: no prose, no code fence. "
        f"It must fit this JSON Schema:\n{schema}"
    )
    *before, last = messages
    if last.role is Role.USER:
        return (*before, replace(last, content=f"{last.content}\n\n{wish}"))
    return (*messages, Message(Role.USER, wish))


def is_strict(schema: JsonValue) -> bool:
    """Whether every object in a schema names all its properties as required and allows no others.

    Only such schemas may be sent as strict
    (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
    """
    if isinstance(schema, Mapping):
        if "properties" in schema or schema.get("type") == "object":
            properties, required = schema.get("properties", {}), schema.get("required", ())
            if schema.get("additionalProperties") is not False:
                return False
            if not isinstance(properties, Mapping) or not isinstance(required, Sequence):
                return False
            if set(properties) != set(required):
                return False
        return all(is_strict(value) for value in schema.values())
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return all(is_strict(value) for value in schema)
    return True


def read_output(output: OutputSchema, text: str) -> JsonValue:
    """Read and check the value that a reply holds.

    Raises
    ------
    ValueError
        There is none or it does not fit; the message can be sent back to the model.
    ModelSettingsError
        The schema itself is wrong, or the package that checks it is missing.
    """
    try:
        value = find_json(text)
    except ValueError as error:
        raise ValueError(f"the reply holds no JSON value ({error})") from error
    problem = _first_problem(output, value)
    if problem:
        raise ValueError(problem)
    return value


def repair_request(request: ChatRequest, reply: ChatReply, problem: str) -> ChatRequest:
    """Return the request that shows the model its reply and what is wrong with it."""
    complaint = f"That does not fit: {problem}. Answer again with the corrected JSON value only."
    turns = (Message(Role.ASSISTANT, reply.text), Message(Role.USER, complaint))
    return replace(request, messages=(*request.messages, *turns))


def _first_problem(output: OutputSchema, value: JsonValue) -> str:
    try:
        import jsonschema  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        raise ModelSettingsError(
            "structured replies need the jsonschema package: pip install 'graphloc[llm]'"
        ) from error
    validator_class = jsonschema.validators.validator_for(output.schema)
    try:
        validator_class.check_schema(output.schema)
    except jsonschema.SchemaError as error:
        raise ModelSettingsError(f"the schema {output.name} is wrong: {error.message}") from error
    found = jsonschema.exceptions.best_match(validator_class(output.schema).iter_errors(value))
    return f"at {found.json_path}: {found.message}" if found else ""
