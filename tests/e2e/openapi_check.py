"""Holds answers against schemas of an OpenAPI document: the part of the language that Muster's own document uses."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": (int, float)}


def problems(value, schema, document, where="answer"):
    """What is wrong with the value, one sentence each. What no schema names is wrong, too."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        return problems(value, document["components"]["schemas"][name], document, where)
    if value is None:
        return [] if schema.get("nullable") else [f"{where} is null"]
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{where} is {value!r}, no {kind}"]
    if kind == "integer" and value != int(value):
        return [f"{where} is {value!r}, no whole number"]
    if kind == "array":
        return [problem for i, item in enumerate(value) for problem in problems(item, schema["items"], document, f"{where}[{i}]")]
    if kind != "object" or not ("properties" in schema or "additionalProperties" in schema):
        return []
    found = [f"{where} has no {name}" for name in schema.get("required", []) if name not in value]
    others = schema.get("additionalProperties", False)
    for name, item in value.items():
        inner = schema.get("properties", {}).get(name, others)
        found += problems(item, inner, document, f"{where}.{name}") if inner else [f"{where} has {name}, which is in no schema"]
    return found


def answer_schema(document, method, path, status):
    """The schema of the JSON that a call is answered with; None where the document has plain text."""
    responses = document["paths"][path][method.lower()]["responses"]
    content = responses.get(str(status), responses["default"])["content"]
    return content["application/json"]["schema"] if "application/json" in content else None
