"""usage: carry_peer.py FOLDER   copies into FOLDER what the Python reference (../python_reference.py) loads beside torch

For the Python of scripts/python-env. The reference runs once, with tiny nets, and sees only torch, what torch itself needs, and
PACKAGES; the files that it loaded of these are copied, with the packages' metadata and licences. A machine with torch alone then
runs it with --packages FOLDER. It has to have Pillow itself, whose compiled modules and libraries are larger than all the rest.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("diffusers", "huggingface_hub", "safetensors", "packaging", "tqdm", "httpx2", "httpcore2", "h11", "idna", "certifi", "anyio",
            "pyyaml", "pillow", "importlib_metadata", "zipp", "regex", "requests", "urllib3", "charset_normalizer", "truststore")
FOLDERS = {"pyyaml": "yaml", "pillow": "PIL"}  # where the module is called otherwise
WITH_TORCH = ("torch", "functorch", "torchgen", "numpy", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "sympy",
              "typing_extensions", "triton", "nvidia", "cuda")
# The reference as a program that tells what it loaded from the folder behind it in the path.
PROGRAM = """
import io, json, runpy, sys, contextlib
reference, torch, carried = sys.argv[1:]
sys.path += [torch, carried]
sys.argv = [reference, "--size", "tiny", "--runs", "1"]
with contextlib.redirect_stdout(io.StringIO()):
    runpy.run_path(reference, run_name="__main__")
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print(json.dumps([file for file in files if file.startswith(carried + "/")]))
"""


def link(site, folder, names):
    folder.mkdir()
    for name in names:
        module = FOLDERS.get(name, name)
        for path in (*site.glob(module), *site.glob(f"{module}.py"), *site.glob(f"{module}.libs"), *site.glob(f"{name}-*.dist-info")):
            (folder / path.name).symlink_to(path)


def main():
    to = pathlib.Path(sys.argv[1])
    site = pathlib.Path(sysconfig.get_path("purelib"))
    with tempfile.TemporaryDirectory() as name:
        torch, carried = pathlib.Path(name, "torch"), pathlib.Path(name, "carried")
        link(site, torch, WITH_TORCH)
        link(site, carried, PACKAGES)
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", PROGRAM, ROOT / "bench/python_reference.py", torch, carried],
            stdout=subprocess.PIPE, text=True, check=False,
        )
        if ran.returncode != 0:
            sys.exit(f"carry_peer.py: the reference does not run with {', '.join(PACKAGES)} beside torch")
        loaded = {pathlib.Path(file).relative_to(carried) for file in json.loads(ran.stdout.splitlines()[-1])}
        loaded = {file for file in loaded if file.parts[0] != "PIL"}
    # In place of a compiled module another Python takes the source beside it, where there is one.
    sources = {file.with_name(file.name.split(".")[0] + ".py") for file in loaded if file.suffix == ".so"}
    loaded |= {file for file in sources if (site / file).exists()}
    tops = {file.parts[0] for file in loaded}
    for package in PACKAGES:
        if FOLDERS.get(package, package) in tops:
            loaded |= {file.relative_to(site) for info in site.glob(f"{package}-*.dist-info") for file in info.rglob("*") if file.is_file()}
    for file in sorted(loaded):
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site / file, to / file)
    print(f"carry_peer.py: {len(loaded)} files of {', '.join(sorted(tops))}", file=sys.stderr)


main()
