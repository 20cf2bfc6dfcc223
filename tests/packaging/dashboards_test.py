"""usage: dashboards_test.py SOURCES   what the Grafana dashboard and the Prometheus alerts ask for exists, and the alerts ring"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

METRIC = re.compile(r"\bnavtalk_[a-z0-9_]+\b")
# A name in the product's sources, and whether it is a histogram's, whose series have names of their own.
MADE = re.compile(r"(\bhistogram\(\s*)?\"(navtalk_[a-z0-9_]+)\"")


def made(sources):
    names = set()
    for path in (sources / "server").rglob("*.cpp"):
        for histogram, name in MADE.findall(path.read_text()):
            suffixes = ("_bucket", "_sum", "_count") if histogram else ("",)
            names.update(name + suffix for suffix in suffixes)
    if len(names) < 30:
        raise AssertionError(f"only {len(names)} metrics were found in server/: {sorted(names)}")
    return names


def asked_for(sources):
    dashboard = json.loads((sources / "packaging/grafana/navtalk.json").read_text())
    asked = {}
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            for name in METRIC.findall(target["expr"]):
                asked[name] = f"panel '{panel['title']}'"
    for variable in dashboard.get("templating", {}).get("list", []):
        for name in METRIC.findall(json.dumps(variable.get("query", ""))):
            asked[name] = f"variable '{variable['name']}'"
    alerts = (sources / "packaging/prometheus/navtalk-alerts.yml").read_text()
    rules = re.sub(r"#.*", "", alerts)
    for name in METRIC.findall(rules):
        asked[name] = "the alerts"
    return dashboard, rules, asked


def check_layout(dashboard):
    taken = {}
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            raise AssertionError(f"panel '{panel['title']}' is wider than the grid")
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                other = taken.setdefault((x, y), panel["title"])
                if other != panel["title"]:
                    raise AssertionError(f"panels '{other}' and '{panel['title']}' overlap")
    if len({panel["id"] for panel in dashboard["panels"]}) != len(dashboard["panels"]):
        raise AssertionError("two panels have one id")


def promtool(folder, *arguments):
    ran = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise AssertionError(f"promtool {' '.join(arguments)}:\n{ran.stdout}{ran.stderr}")


def main():
    sources = pathlib.Path(sys.argv[1])
    dashboard, rules, asked = asked_for(sources)
    missing = {name: where for name, where in asked.items() if name not in made(sources)}
    if missing:
        raise AssertionError(f"no page has these metrics: {missing}")
    check_layout(dashboard)
    tested = (sources / "packaging/prometheus/navtalk-alerts-test.yml").read_text()
    for alert in re.findall(r"- alert: (\w+)", rules):
        if f"alertname: {alert}" not in tested:
            raise AssertionError(f"no test of the rules names {alert}")
    if shutil.which("promtool") is None:
        print("skipped: there is no promtool (Debian's package prometheus)")
        return
    folder = sources / "packaging/prometheus"
    promtool(folder, "check", "rules", "navtalk-alerts.yml")
    promtool(folder, "test", "rules", "navtalk-alerts-test.yml")


main()
