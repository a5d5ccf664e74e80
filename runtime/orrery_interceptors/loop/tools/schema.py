"""The part of JSON Schema that tool inputs are described and checked with.

One schema serves both: what the model is told is exactly what is checked. Understood are `type` (string, integer,
boolean, object), `properties`, `required`, `additionalProperties: false`, `minimum`, `maximum`, `minLength` and
`maxLength`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...jsontext import Json

Schema = Mapping[str, Json]


def object_schema(description: str, required: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> Schema:
    """The schema of an object with these members and no others."""
    return {
        "type": "object",
        "description": description,
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def problem(schema: Schema, value: Json, name: str = "the input") -> str | None:
    """What is wrong with a value, in words for the model, or None. All that is wrong with an object is said at once."""
    match schema.get("type"):
        case "object":
            return _object(schema, value, name)
        case "string":
            if not isinstance(value, str):
                return f"{name} must be a string"
            return _within(schema, len(value), f"{name} must have", "minLength", "maxLength", " characters")
        case "integer":
            if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value % 1 == 0)):
                return f"{name} must be a whole number"
            return _within(schema, value, f"{name} must be", "minimum", "maximum", "")
        case "boolean":
            return None if isinstance(value, bool) else f"{name} must be true or false"
        case _:
            return None


def _object(schema: Schema, value: Json, name: str) -> str | None:
    if not isinstance(value, dict):
        return f"{name} must be a JSON object"
    properties: Mapping[str, Schema] = schema.get("properties", {})
    found = [f"{key!r} is missing" for key in schema.get("required", ()) if key not in value]
    for key, member in value.items():
        if key in properties:
            if trouble := problem(properties[key], member, repr(key)):
                found.append(trouble)
        elif schema.get("additionalProperties") is False:
            found.append(f"there is no {key!r}; the keys are {', '.join(properties)}")
    return f"{name}: {'; '.join(found)}" if found else None


def _within(schema: Schema, size: float, start: str, least: str, most: str, unit: str) -> str | None:
    if least in schema and size < schema[least]:
        return f"{start} at least {schema[least]}{unit}"
    if most in schema and size > schema[most]:
        return f"{start} at most {schema[most]}{unit}"
    return None
