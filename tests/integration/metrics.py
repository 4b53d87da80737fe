#!/usr/bin/python3
"""/metrics/apps of a real mired: the figures are those of the API, who sees which app, and promtool accepts the format, the alerts and the dashboard's queries."""

import json
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import SOURCE, Mired, scratch, until  # noqa: E402


def read(text):
    """The series by name and labels; every family has a head before its samples, and stands in one piece."""
    series, types, family = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            family, kind = line.split()[2:]
            assert family not in types, f"{family} twice"
            types[family] = kind
        elif not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)(?:{(.*)})? (\S+)", line).groups()
            assert name == family, line
            key = (name, *sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))
            assert key not in series, f"{line} twice"
            series[key] = float(value)
    return series


def of(series, name, **labels):
    return series.get((name, *sorted(labels.items())))


def close(a, b):
    return abs(a - b) <= 0.002 + 0.002 * abs(b)


def check_figures(mired):
    series = read(mired.ask("GET", "/metrics/apps?t=7d")[2].decode())
    seconds = of(series, "mire_app_window_seconds")
    assert seconds >= 7 * 86400 and seconds < 8 * 86400 + 3600 + 86400, seconds
    rates = mired.get("/apps/shop/rates?t=7d")
    rows = [({}, "mire_app", rates["total"])] + [({"version": v["version"]}, "mire_version", v) for v in rates["versions"]]
    assert len(rows) > 3, rates
    for labels, prefix, row in rows:
        assert close(of(series, f"{prefix}_sessions", app="shop", **labels), row["sessions"]), row
        for name, rate in (("lag_percent", "lag"), ("foom_percent", "foom"), ("watchdog_percent", "watchdog"), ("crash_percent", "crash")):
            for bound in ("value", "low", "high"):
                seen = of(series, f"{prefix}_rate_ratio", app="shop", rate=rate, bound=bound, **labels)
                assert (seen is None) == (row[name] is None), (name, bound, labels)
                assert seen is None or close(100 * seen, row[name][bound]), (name, bound, seen, row)
        seen = of(series, f"{prefix}_hang_seconds_per_hour", app="shop", bound="value", **labels)
        assert close(seen, row["hang_s_per_hour"]["value"]), (seen, row)
    # Whole days, as the page's range of the same days.
    day = (rates["range"]["from"][:10] + "T00Z..", )
    overview = mired.get(f"/apps/shop/overview?t={day[0]}" + re.sub(r":.*", "Z", mired.get("/apps/shop/overview?t=7d")["range"]["to"]))
    for category in overview["categories"]:
        seen = of(series, "mire_app_events", app="shop", kind=category["key"])
        assert close(seen, category["events"]), (category, seen)
        parts = [v for k, v in series.items() if k[0] == "mire_version_events" and ("kind", category["key"]) in k and ("app", "shop") in k]
        assert parts and sum(parts) <= seen + 0.01, (category, parts)
        each = of(series, "mire_app_events_per_1000_sessions", app="shop", kind=category["key"])
        assert close(each, 1000 * category["events"] / of(series, "mire_app_sessions", app="shop")), each


def check_access(mired):
    """A key of scope read sees its own app, another key none; labels hold any text."""
    apps = {dict(k[1:]).get("app") for k in read(mired.ask("GET", "/metrics/apps")[2].decode())} - {None}
    assert apps == {"shop", "other"}, apps
    read_key, ingest_key = mired.key("other", "read"), mired.key("other", "ingest")
    mired.stop()
    mired.settings = ("--sign-in=yes",)
    mired.start()
    assert mired.ask("GET", "/metrics/apps")[0] == 401
    assert mired.ask("GET", "/metrics/apps", ingest_key)[0] in (401, 403), mired.ask("GET", "/metrics/apps", ingest_key)
    status, headers, body = mired.ask("GET", "/metrics/apps", read_key)
    apps = {dict(k[1:]).get("app") for k in read(body.decode())} - {None}
    assert status == 200 and apps == {"other"} and headers["Content-Type"].startswith("text/plain; version=0.0.4"), (status, apps)
    status, _, body = mired.ask("GET", "/metrics/apps?x=1", read_key)
    assert status == 400, body


def check_bounds(mired):
    """However many versions there are, twelve have series; a version's name may hold anything."""
    mired.sql("INSERT INTO version (app_id, version, first_seen) SELECT app_id, '9.' || n || '\"\\', now() FROM app, generate_series(1, 40) n"
              " WHERE slug = 'other'")
    mired.sql("INSERT INTO session_day SELECT (jsonb_populate_record(s, jsonb_build_object('app_id', v.app_id, 'version_id', v.version_id))).*"
              " FROM session_day s, version v JOIN app USING (app_id) WHERE slug = 'other' AND version LIKE '9.%'"
              " AND (s.slot, s.day, s.version_id) = (SELECT slot, day, version_id FROM session_day ORDER BY day DESC, records DESC LIMIT 1)")
    text = mired.ask("GET", "/metrics/apps?t=30d", mired.key("other", "read"))[2].decode()
    series = read(text)
    versions = {dict(k[1:])["version"] for k in series if k[0] == "mire_version_sessions"}
    assert len(versions) == 12 and any(v.endswith('\\"\\\\') for v in versions), versions
    assert of(series, "mire_app_versions_omitted", app="other") >= 28, series
    return text


def promtool():
    done = subprocess.run([SOURCE / "tests/support/promtool.sh"], capture_output=True, text=True, timeout=300)
    return done.stdout.strip() if done.returncode == 0 else None


def check_with_promtool(folder, text):
    tool = promtool()
    if not tool:
        print("promtool cannot be had: the format is checked by this test alone")
        return
    done = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, done
    assert subprocess.run([tool, "check", "rules", SOURCE / "deploy/alerts.yml"], capture_output=True, timeout=300).returncode == 0
    # The dashboard's queries, as rules: promtool parses each.
    dashboard = json.loads((SOURCE / "deploy/grafana/mire.json").read_text())
    queries = [target["expr"].replace("$app", ".*").replace("$version", ".*") for panel in dashboard["panels"] for target in panel["targets"]]
    rules = {"groups": [{"name": "dashboard", "rules": [{"record": f"mire:query{n}", "expr": query} for n, query in enumerate(queries)]}]}
    path = folder / "dashboard.yml"
    path.write_text(json.dumps(rules))
    done = subprocess.run([tool, "check", "rules", path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and f"{len(queries)} rules found" in done.stdout, done
    # And a query that is none is refused by it.
    path.write_text(json.dumps(rules).replace("sum(mire_app_sessions", "sum((mire_app_sessions"))
    assert subprocess.run([tool, "check", "rules", path], capture_output=True, timeout=300).returncode != 0


def main():
    with scratch("metrics") as name:
        folder = pathlib.Path(name)
        mired = Mired(folder)
        for app, reports in (("shop", 600), ("other", 60)):
            mired.mire("seed", app, "--reports", reports, "--days", "6", "--data-dir", mired.data)
        until("the reports are worked on", lambda: mired.sql("SELECT count(*) FROM inbox")[0] == "0" and mired.issues("other"))
        check_figures(mired)
        check_access(mired)
        check_with_promtool(folder, check_bounds(mired))
        mired.stop()


if __name__ == "__main__":
    main()
