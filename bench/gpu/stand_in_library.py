"""usage: stand_in_library.py LIBRARY FILE   writes FILE: a library of the same name, symbols and versions whose functions return 0

For benches only, never for a package: an archive that travels to a machine with a GPU has to be small, and FFmpeg links coders, fonts and
drawing that those benches never call. What called one would get 0 and go wrong. Variables are zeros. x86-64; needs gcc and binutils.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

MOST_BYTES = 1 << 16  # of a variable
NAME = re.compile(r"[A-Za-z_][\w$.]*")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    """Functions, variables with their sizes, and the symbols of each version; of several versions of a symbol the default one.

    Weak symbols are left out: they are mostly copies of C++ templates, which other libraries have, too, and must not find here.
    """
    functions, variables, versions = set(), {}, {}
    for line in output("readelf", "-W", "--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[4] in ("LOCAL", "WEAK") or fields[6] in ("UND", "ABS"):
            continue
        name, separator, version = re.fullmatch(r"([^@]+)(@{0,2})(.*)", fields[7]).groups()
        if separator == "@" or not NAME.fullmatch(name):
            continue
        versions.setdefault(version, set()).add(name)
        if fields[3] in ("FUNC", "IFUNC"):
            functions.add(name)
        else:
            variables[name] = min(max(int(fields[2], 0), 8), MOST_BYTES)
    return functions, variables, versions


def assembly(functions, variables):
    lines = [".text"]
    for name in sorted(functions):
        lines += [f".globl {name}", f".type {name},@function", f"{name}:"]
    lines += ["xorl %eax,%eax", "ret", ".bss", ".balign 64"]
    for name, size in sorted(variables.items()):
        lines += [f".globl {name}", f".type {name},@object", f".size {name},{size}", f"{name}: .zero {size}", ".balign 64"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])


def main():
    library, file = sys.argv[1:]
    soname = re.search(r"Library soname: \[(.*?)\]", output("readelf", "-d", library)).group(1)
    functions, variables, versions = exported(library)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "symbols.s").write_text(assembly(functions, variables))
        command = ["gcc", "-shared", "-nostdlib", "-s", "-o", file, folder / "symbols.s", f"-Wl,-soname,{soname}"]
        script = [f"{version} {{ global: {'; '.join(sorted(names))}; }};" for version, names in sorted(versions.items()) if version]
        if script:
            (folder / "versions").write_text("\n".join(script))
            command.append(f"-Wl,--version-script={folder / 'versions'}")
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
