#!/usr/bin/env python3
"""deploy/nginx.conf in front of mired: who reaches what without a password. Names, ports and TLS are left out."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.environ["MIRE_SOURCE_DIR"], "tests/support"))
import mired  # noqa: E402

SOURCE = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def configure(folder, behind, port):
    text = (SOURCE / "deploy/nginx.conf").read_text()
    for old, new in (("127.0.0.1:7117", f"127.0.0.1:{behind}"), ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
                     ("listen 443 ssl http2;", f"listen 127.0.0.1:{port};"), ("mire.example.com", "127.0.0.1"),
                     ("/etc/nginx/mire.users", str(folder / "users"))):
        assert old in text, old
        text = text.replace(old, new)
    text = re.sub(r"\n    ssl_.*", "", text)
    (folder / "users").write_text("anna:{PLAIN}secret\n")
    places = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(f"pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
                                       f"http {{ access_log off; {places}\n{text} }}\n")


def status(url, method="GET", **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method, headers=headers), timeout=300) as answer:
            return answer.status
    except urllib.error.HTTPError as answer:
        return answer.code


def check(url, server, folder):
    assert status(url + "/") == status(url + "/api/v1/apps") == 401
    assert status(url + "/api/v1/apps", Authorization="Basic YW5uYTpzZWNyZXQ=") == 200
    assert status(url + "/metrics") == 403
    assert status(url + "/api/v1/reports") == 403 and status(url + "/api/v1/symbols") == 403
    debug = folder / "app.debug"
    program = "char ballast[9 << 20] = {1};\nint main(void) { return ballast[0]; }\n"  # more than one part
    subprocess.run(["cc", "-g", "-Wl,--build-id", "-o", debug, "-x", "c", "-"], input=program, text=True, check=True)
    key = server.key("behind", "symbols")
    said = server.mire("symbols", "upload", "--key", key, debug, MIRE_SERVER=url)
    assert "1 stored, 0 there already, 0 failed" in said, said
    said = server.mire("symbols", "upload", "--key", key, debug, MIRE_SERVER=url)
    assert "0 stored, 1 there already" in said, said


def main():
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        print("skipped: nginx is not installed")
        return 77
    with mired.scratch("nginx") as name:
        folder, port = pathlib.Path(name), free_port()
        server = mired.Mired(folder)
        configure(folder, server.port, port)
        front = subprocess.Popen([program, "-c", folder / "nginx.conf", "-g", "daemon off;"])
        try:
            mired.until("nginx listens", lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
            check(f"http://127.0.0.1:{port}", server, folder)
        finally:
            front.terminate()
            front.wait(300)
            server.stop()
    return 0


sys.exit(main())
