#!/usr/bin/python3
"""`mire mcp` against a real mired, by the protocol's own client: its answers are those of the API, and nothing changes without --write."""

import json
import os
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import MIRE, SOURCE, Mired, scratch, until  # noqa: E402

NODE = SOURCE / "build/node/bin/node"


def converse(mired, calls, *flags, **env):
    """What the client saw: the server, its tools, and the answer to each call."""
    done = subprocess.run([NODE if NODE.exists() else "node", SOURCE / "build/mcp/client.mjs", MIRE, "mcp", "--server", mired.url, *flags],
                          input=json.dumps(calls), capture_output=True, text=True, timeout=300, env=os.environ | env)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def call(tool, **arguments):
    return ["callTool", {"name": tool, "arguments": arguments}]


def text(answer):
    assert not answer.get("isError") and answer["content"][0]["type"] == "text", answer
    return answer["content"][0]["text"]


def check_reading(mired):
    issues = mired.issues("shop")
    first = issues[0]
    id, name = first["id"], first["caller1"]
    seen = converse(mired, [call("list_apps"), call("list_issues"), call("list_issues", limit=2), call("show_issue", issue=id), call("show_stacks", issue=id),
                            call("search", text=name), call("search", text=name, issue=id), call("show_rates"), call("compare_versions"),
                            call("list_alerts"), call("show_issue", issue="I-99999999"), call("list_issues", app="nosuch"), call("list_issues", colour="red"),
                            call("nosuch"), call("set_issue", issue=id, state="resolved"), ["listResources"], ["readResource", {"uri": f"mire://issues/{id}"}],
                            ["listResourceTemplates"]], "--app", "shop")
    apps, listed, page, shown, stacks, found, frames, rates, changes, alerts, missing, no_app, colour, no_tool, refused, resources, resource, templates = seen["answers"]
    assert seen["server"]["name"] == "mire" and {"tools", "resources"} == set(seen["capabilities"]), seen
    assert all(tool["annotations"]["readOnlyHint"] for tool in seen["tools"]) and len(seen["tools"]) == 8, seen["tools"]
    assert "- shop: " in text(apps)
    for issue in issues:
        line = next(line for line in text(listed).splitlines() if f"{issue['id']} {issue['caller1']} (" in line)
        assert f"{issue['totals']['events']} events, {issue['totals']['devices']} devices" in line, (line, issue)
    assert text(page).count("\n- ") == 2 and "call again with the cursor" in text(page), page
    cursor = text(page).split("cursor ")[1].strip()
    second = text(converse(mired, [call("list_issues", limit=2, cursor=cursor)], "--app", "shop")["answers"][0])
    assert second.count("\n- ") == 2 and first["id"] + " " not in second, second
    assert text(shown) == mired.ask("GET", f"/i/{id}.md")[2].decode()
    assert f" {name} [" in text(stacks) and "100.0% main" in text(stacks), stacks
    assert id in text(found) and all(name in line for line in text(found).splitlines() if line.startswith("- ")), found
    assert f"{name} [" in text(frames) and "main" in text(frames), frames
    sessions = round(mired.get("/apps/shop/rates")["total"]["sessions"])
    assert f"All versions: {sessions} sessions" in text(rates), (sessions, rates)
    assert "against" in text(changes) and "No alert is firing." in text(alerts)
    assert missing["isError"] and "404" in missing["content"][0]["text"], missing
    assert no_app["isError"] and "404" in no_app["content"][0]["text"], no_app
    assert colour["isError"] and "no such argument" in colour["content"][0]["text"], colour
    assert no_tool["code"] == -32602 and refused["code"] == -32602 and "--write" in refused["message"], (no_tool, refused)
    assert [r["uri"] for r in resources["resources"]] == [f"mire://issues/{i['id']}" for i in issues][:50], resources
    assert resource["contents"][0]["text"] == text(shown) and resource["contents"][0]["mimeType"] == "text/markdown"
    assert templates["resourceTemplates"][0]["uriTemplate"] == "mire://issues/{issue}"
    assert mired.issues("shop")[0]["state"] == "open"
    return id


def check_files(mired, id):
    """The file of Caller1 finds an issue, in the page's search and in the tool's."""
    mired.sql(f"UPDATE issue SET caller1_location = 'src/views/Basket.kt:41' WHERE issue_id = {id[2:]}")
    found = text(converse(mired, [call("search", text="basket.kt")], MIRE_APP="shop")["answers"][0])
    assert found.count("\n- ") == 1 and f"- {id} " in found and "src/views/Basket.kt:41" in found, found
    groups = mired.get("/apps/shop/issues?q=basket.kt")["groups"]
    assert [i["id"] for g in groups for i in g["issues"]] == [id], groups


def check_writing(mired, id):
    seen = converse(mired, [call("set_issue", issue=id, state="resolved", fixed_in="9.9", reason="by a test"), call("comment_issue", issue=id, text="Fixed, *really*."),
                            call("set_issue", issue=id, state="open", assignee="kim"), call("comment_issue", issue="I-99999999", text="x")],
                    "--app", "shop", "--write")
    done, comment, both, missing = seen["answers"]
    assert len(seen["tools"]) == 10 and sum(not t["annotations"]["readOnlyHint"] for t in seen["tools"]) == 2
    assert text(done) == "Done." and "there" in text(comment) and both["isError"] and missing["isError"], seen["answers"]
    issue = next(i for i in mired.issues("shop") if i["id"] == id)
    assert (issue["state"], issue["state_version"]) == ("resolved", "9.9"), issue
    acts = mired.get(f"/apps/shop/issues/{id}/activity")["acts"]
    assert any(act.get("body") == "Fixed, *really*." for act in acts), acts


def check_pipe():
    """Lines that are no messages, a server that is not there, and the end of the input."""
    lines = [b"", b"   ", b"{", b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\r',
             b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_apps"}}', b'"' + b"x" * (2 << 20) + b'"',
             b'{"jsonrpc":"2.0","id":3,"method":"ping"}']
    done = subprocess.run([MIRE, "mcp", "--server", "http://127.0.0.1:9"], input=b"\n".join(lines), capture_output=True, timeout=300)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    assert [a["id"] for a in answers] == [None, 1, 2, None, 3], answers
    assert answers[0]["error"]["code"] == -32700 and "cannot be reached" in json.dumps(answers[2]) and answers[2]["result"]["isError"], answers
    assert answers[3]["error"]["code"] == -32600 and answers[4]["result"] == {}, answers


def main():
    check_pipe()
    fetched = subprocess.run([SOURCE / "tests/support/npm.sh", "mcp"], capture_output=True, text=True, timeout=600)
    if fetched.returncode == 77:
        print(fetched.stdout)
        sys.exit(77)
    assert fetched.returncode == 0, fetched
    with scratch("mcp") as folder:
        mired = Mired(pathlib.Path(folder))
        mired.mire("seed", "shop", "--reports", "300", "--days", "10", "--data-dir", mired.data)
        until("the reports are worked on", lambda: mired.sql("SELECT count(*) FROM inbox")[0] == "0" and mired.issues("shop"))
        id = check_reading(mired)
        check_files(mired, id)
        check_writing(mired, id)
        mired.stop()


if __name__ == "__main__":
    main()
