"""Answers of the API against schema/api/openapi.yaml."""

import json
import sys

from mired import SOURCE

sys.path[:0] = [str(SOURCE / "tests/structure")]

import examples  # noqa: E402
import yaml  # noqa: E402

DOCUMENT = yaml.safe_load((SOURCE / "schema/api/openapi.yaml").read_text())
ANSWERS = {name: examples.validator(DOCUMENT, ref) for name, ref in examples.schemas(DOCUMENT).items()}


def answer_of(body, name):
    """The answer in a body, which is as the document has the operation's."""
    answer = json.loads(body)
    for error in ANSWERS[name].iter_errors(answer):
        raise AssertionError(f"{error.json_path}: {error.message}")
    return answer
