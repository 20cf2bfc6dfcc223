"""usage: kernel_times.py CSV [ROWS]   the GPU time of a profile by kernel, the longest first (default: 20 rows)

CSV is what `ncu --metrics gpu__time_duration.sum --csv --page raw` prints, with or without ncu's own lines before it. Kernels of the same
name and template arguments are one row. Exit status 1 where no kernel was profiled.
"""

import collections
import csv
import re
import sys

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
TIME = "gpu__time_duration.sum"
WIDTH = 72
# What PyTorch's kernels for one operation per element are made from.
OPERATION = re.compile(r"\w*(?:Functor|Impl|_kernel_cuda)\w*(?:<[^<>]*>)?")


def without_parameters(name):
    """A kernel's name up to its parameter list; "(anonymous)" within template arguments stays."""
    depth = 0
    for at, character in enumerate(name):
        if character == "(" and depth == 0:
            return name[:at]
        depth += {"<": 1, ">": -1}.get(character, 0)
    return name


def readable(name):
    name = re.sub(r"^void |<unnamed>::|\bat::|\bc10::|\bnative::", "", name)
    if "elementwise_kernel<" in name:
        operations = [found for found in OPERATION.findall(name) if not found.startswith("gpu_kernel_impl")]
        if operations:
            name = name.split("<", 1)[0] + " " + operations[0]
    convolution = re.match(r"(sm\d+_xmma_\w+?)_implicit_gemm\w*_tilesize(\d+x\d+x\d+)", name)
    if convolution:
        name = " ".join(convolution.groups()) + (" segment_k" if "segment_k_on" in name else "")
    return name if len(name) <= WIDTH else name[: WIDTH - 22] + ".." + name[-20:]


def times(lines):
    """Nanoseconds of each call, by kernel."""
    begin = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    calls = collections.defaultdict(list)
    unit = 1
    for row in csv.DictReader(lines[begin:]):
        value = (row.get(TIME) or "").replace(",", "")
        if not row["Kernel Name"]:
            unit = NANOSECONDS.get(value, unit)  # the row below the names has the units
        elif value:
            calls[without_parameters(row["Kernel Name"])].append(float(value) * unit)
    return calls


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        calls = times(file.read().splitlines())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    total = sum(map(sum, calls.values()))
    if total == 0:
        sys.exit("kernel_times.py: no kernel was profiled")
    order = sorted(calls, key=lambda name: -sum(calls[name]))
    print(f"{'ms':>9} {'share':>6} {'calls':>6}  kernel")
    for name in order[:rows]:
        print(f"{sum(calls[name]) / 1e6:9.3f} {100 * sum(calls[name]) / total:5.1f}% {len(calls[name]):6}  {readable(name)}")
    others = [call for name in order[rows:] for call in calls[name]]
    if others:
        print(f"{sum(others) / 1e6:9.3f} {100 * sum(others) / total:5.1f}% {len(others):6}  {len(order) - rows} others")
    print(f"{total / 1e6:9.3f} 100.0% {sum(map(len, calls.values())):6}  together")


if __name__ == "__main__":
    main()
