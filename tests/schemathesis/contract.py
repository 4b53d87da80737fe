#!/usr/bin/python3
"""The contract asked at random: every operation with every role, and chains of operations, by Schemathesis.

Nothing may be answered 5xx, or in a shape that the contract does not have; and the audit log must have no change that the role
of its actor does not allow. MAX_S bounds the seconds of each role (default 60); PHASES picks those of Schemathesis.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

HERE, KIT = pathlib.Path(__file__).resolve().parent, mired.SOURCE / "build/schemathesis"
PASSWORD = "correct horse battery"
CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance"
# They would end the sign-in that the rest is asked with, or lock the person out.
LEFT_OUT = ("signOut", "signOutEverywhere", "endSignIn", "signIn", "useLink", "changeAccount")
# What may be in the audit log in the name of a role, by the beginning of the action. All may change their own.
OWN = ("sign-in.", "password.", "token.", "code.")
TRIAGER = OWN + ("issue.", "alert.rule_", "alert.snoozed", "alert.acknowledged", "ticket.asked")
ADMIN = TRIAGER + ("alert.", "key.", "member.", "release.", "reports.", "rollout", "rules", "ramp", "settings.", "symbols.", "tracker.")
MAY = {"viewer": OWN, "triager": TRIAGER, "admin": ADMIN, "root": None}


class Server(mired.Mired):
    def start(self):
        super().start()
        user = lambda *words: self.mire("user", "add", *words, "--data-dir", self.data)  # noqa: E731
        self.ingest = self.key("shop", "ingest")
        self.key("other", "ingest")
        links = {role: user(role, "--role", role, "--app", "shop") for role in ("viewer", "triager", "admin")}
        links["root"] = user("root", "--server-admin")
        self.cookies = {role: self.use(link) for role, link in links.items()}
        for path in sorted((mired.SOURCE / "schema/wire/vectors/valid").glob("*/report.json"))[:40]:
            self.ask("POST", "/api/v1/reports", self.ingest, path.read_bytes(), Content_Type="application/json")
        mired.until("a report is worked on", lambda: self.read("root", "/apps/shop/issues?t=3650d")["groups"])

    def use(self, link):
        body = {"link": link.strip().split("#")[1], "password": PASSWORD}
        status, headers, answer = self.ask("POST", "/api/v1/welcome", None, body, X_Mire_Change="1", Content_Type="application/json")
        assert status == 200, answer
        return headers["Set-Cookie"].split(";")[0]

    def read(self, role, path):
        status, _, body = self.ask("GET", "/api/v1" + path, Cookie=self.cookies[role])
        assert status == 200, (path, status, body)
        return json.loads(body)


def ask(server, role, folder):
    """One run as a role. True: nothing was found."""
    out = folder / f"{role}.log"
    config = folder / "schemathesis.toml"
    config.write_text("")
    words = ["/usr/bin/python3", "-m", "schemathesis.cli", "--config-file", config, "run", mired.SOURCE / "schema/api/openapi.yaml", "--url", server.url, "--phases",
             os.environ.get("PHASES", "coverage,fuzzing,stateful"), "--checks", os.environ.get("CHECKS", CHECKS), "--max-time",
             os.environ.get("MAX_S", "60"), "--seed", os.environ.get("SEED", "34"), "--warnings", "off", "--continue-on-failure",
             "-H", f"Cookie: {server.cookies[role]}", "-H", "X-Mire-Change: 1"]
    for name in LEFT_OUT:
        words += ["--exclude-operation-id", name]
    with out.open("w") as log:
        done = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env=os.environ | {"NO_COLOR": "1", "COLUMNS": "180", "PYTHONPATH": f"{KIT / 'python'}:{HERE}", "SCHEMATHESIS_HOOKS": "hooks"})
    text = out.read_text()
    print(role, "\n".join(text.splitlines()[-12:]), flush=True)
    if done.returncode:
        print(text)
    return done.returncode == 0


def breaches(server):
    """Rows of the audit log that should not be."""
    rows = server.read("root", "/audit?limit=10000")["rows"]
    print(len(rows), "changes are in the audit log")
    wrong = [row for row in rows if MAY.get(row["who"]) and not row["action"].startswith(MAY[row["who"]])]
    return wrong + [row for row in rows if row["app"] == "other" and row["who"] in ("viewer", "triager", "admin")]


def main():
    done = subprocess.run([mired.SOURCE / "tests/schemathesis/fetch.sh"])
    if done.returncode:
        return done.returncode
    roles = os.environ.get("ROLES", "viewer triager admin root").split()
    with mired.scratch("contract") as name:
        folder = pathlib.Path(name)
        server = Server(folder, "--sign-in=yes", "--address-requests-s=0")
        try:
            good = all([ask(server, role, folder) for role in roles])
            found = breaches(server)
            for row in found:
                print("breach:", row)
            alive = server.ask("GET", "/healthz")[0] == 200
        finally:
            server.stop()
        return 0 if good and not found and alive else 1


if __name__ == "__main__":
    sys.exit(main())
