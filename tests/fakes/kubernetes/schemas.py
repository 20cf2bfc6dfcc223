"""The published OpenAPI schema of Kubernetes 1.28, where scripts/kubernetes-tools has fetched it: unknown fields are refused too."""

import functools
import json
import os
import pathlib
import sys

TOOLS = pathlib.Path(os.environ.get("NAVTALK_CACHE") or pathlib.Path.home() / ".cache/navtalk") / "kubernetes-tools"
FOLDER = TOOLS / "kubernetes_validate/kubernetes-json-schema/v1.28.0-local-strict"
if TOOLS.exists():
    sys.path.append(str(TOOLS))
try:
    import jsonschema
    import referencing
except ImportError:
    jsonschema = None
KNOWN = jsonschema is not None and FOLDER.exists()


@functools.lru_cache(maxsize=None)
def validator(name):
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    definitions = json.loads((FOLDER / "_definitions.json").read_text())
    registry = referencing.Registry()
    for contents in (schema, definitions):
        registry = referencing.Resource.from_contents(contents) @ registry
    return jsonschema.Draft202012Validator(schema, registry=registry)


def fault(name, value):
    """Why the value is not as the schema of that name (pod-v1, status-meta-v1) has it; nothing where it is, or where there is no schema."""
    if not KNOWN:
        return None
    error = jsonschema.exceptions.best_match(validator(name).iter_errors(value))
    return error and f"{'.'.join(str(part) for part in error.absolute_path)}: {error.message}"
