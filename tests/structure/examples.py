#!/usr/bin/python3
"""Every file of schema/api/examples is a true answer of the operation it is named after (and says nothing more)."""

import json
import os
import pathlib
import sys

import jsonschema
import yaml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support/api"))
import write_examples  # noqa: E402


def tightened(node):
    """The same schema, refusing properties it does not name."""
    if isinstance(node, dict):
        node = {k: tightened(v) for k, v in node.items()}
        if node.get("type") == "object" and "properties" in node:
            node.setdefault("additionalProperties", False)
    elif isinstance(node, list):
        node = [tightened(v) for v in node]
    return node


def schemas(document):
    """operationId -> name of the schema of its success answer; plus problem."""
    found = {"problem": "#/components/schemas/Problem"}
    for path in document["paths"].values():
        for operation in path.values():
            for status, answer in operation["responses"].items():
                body = answer.get("content", {}).get("application/json") if str(status).startswith("2") else None
                if body:
                    found[operation["operationId"]] = body["schema"]["$ref"]
    return found


def validator(document, ref):
    schema = {"$ref": ref, "components": tightened(document["components"])}
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


def main(root):
    document = yaml.safe_load((root / "schema/api/openapi.yaml").read_text())
    found, wrong, seen = schemas(document), 0, set()
    for file in sorted((root / "schema/api/examples").glob("*.json")):
        operation = file.name.split(".")[0]
        seen.add(operation)
        if operation not in found:
            print(f"{file.name}: no operation is called {operation}")
            wrong += 1
            continue
        for error in validator(document, found[operation]).iter_errors(json.loads(file.read_text())):
            print(f"{file.name}: {error.json_path}: {error.message}")
            wrong += 1
    for operation in sorted(found.keys() - seen):
        print(f"schema/api/examples: no example of {operation}")
        wrong += 1
    for name, value in write_examples.examples():
        file = root / f"schema/api/examples/{name}.json"
        if not file.exists() or file.read_text(encoding="utf-8") != write_examples.text(value):
            print(f"{file.name}: is not what tests/support/api/write_examples.py writes")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", ".")).resolve()))
