"""usage: validate_exchanges.py EXCHANGES REDUCED_SCHEMA [OPENAPI]

Holds what a client asked of the fake Runpod, and what the fake answered, against an OpenAPI document: the published one where it is at
hand, else a reduced one of our own. EXCHANGES is what RunpodServer::write_exchanges wrote. Answers that a script made wrong are left out.
Prints every fault; exit status 1 when there is one, 77 when jsonschema is not installed.
"""

import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

# Later than the saved edition of the document: pages of the list.
LATER_PARAMETERS = {"cursor", "limit"}


class Document:
    def __init__(self, path):
        # References within one schema are understood by every version of jsonschema, those into a larger document are not.
        text = path.read_text(encoding="utf-8").replace("#/components/schemas/", "#/$defs/")
        self.root = json.loads(text)
        self.schemas = self.root["components"]["schemas"]

    def resolved(self, value):
        if "$ref" not in value:
            return value
        target = self.root
        for part in value["$ref"].replace("#/$defs/", "#/components/schemas/").split("/")[1:]:
            target = target[part]
        return target

    def faults(self, schema, value):
        validator = jsonschema.Draft202012Validator({"$defs": self.schemas, "allOf": [schema]})
        return [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}" for fault in validator.iter_errors(value)]

    def operation(self, exchange):
        path = self.root["paths"].get(exchange["path"], {})
        operation = path.get(exchange["method"].lower())
        parameters = path.get("parameters", []) + (operation or {}).get("parameters", [])
        return operation, [self.resolved(parameter) for parameter in parameters]


def request_faults(document, exchange):
    operation, parameters = document.operation(exchange)
    if operation is None:
        return ["no such call in the document"]
    found = []
    known = {parameter["name"]: parameter for parameter in parameters if parameter["in"] == "query"}
    for name, value in exchange["query"].items():
        if name in LATER_PARAMETERS:
            continue
        if name not in known:
            found.append(f"query {name}: not in the document")
            continue
        found += parameter_faults(document, known[name], value)
    body = operation.get("requestBody")
    if body is None:
        return found + ([] if exchange["request"] is None else ["a body where none belongs"])
    schema = document.resolved(body)["content"]["application/json"]["schema"]
    return found + document.faults(schema, exchange["request"])


def parameter_faults(document, parameter, text):
    schema = document.resolved(parameter["schema"])
    kind = schema.get("type")
    value = text.split(",") if kind == "array" else int(text) if kind == "integer" else text
    return [f"query {parameter['name']}: {fault}" for fault in document.faults(schema, value)]


def answer_faults(document, exchange):
    operation, _ = document.operation(exchange)
    answers = (operation or {}).get("responses", {})
    answer = answers.get(str(exchange["status"]), answers.get("default"))
    if answer is None:
        return ["no such answer in the document"]
    content = document.resolved(answer).get("content")
    if not content:
        return [] if exchange["answer"] is None else ["a body where none belongs"]
    return document.faults(next(iter(content.values()))["schema"], exchange["answer"])


def main():
    exchanges_file, reduced, *published = map(pathlib.Path, sys.argv[1:])
    document_file = next((path for path in published if path.is_file()), reduced)
    document = Document(document_file)
    exchanges = [json.loads(line) for line in exchanges_file.read_text(encoding="utf-8").splitlines()]
    found = 0
    for exchange in exchanges:
        what = f"{exchange['method']} {exchange['path']}"
        faults = [f"{what}: request: {fault}" for fault in request_faults(document, exchange)]
        if not exchange["scripted"]:
            faults += [f"{what}: answer {exchange['status']}: {fault}" for fault in answer_faults(document, exchange)]
        print(*faults, sep="\n", end="\n" if faults else "")
        found += len(faults)
    print(f"{len(exchanges)} exchanges against {document_file.name}: {found} faults")
    return 1 if found or not exchanges else 0


if __name__ == "__main__":
    sys.exit(main())
