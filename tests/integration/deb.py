#!/usr/bin/env python3
"""The Debian packages, installed by dpkg into a copy of this machine's root that vanishes with the test (an overlay in a
mount namespace), used there by the user that they make, and purged: data stay, and nothing else. Skipped where this user may
not mount."""

import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

OVER = pathlib.Path("/tmp/mire-deb")  # in the namespace alone, on a file system of its own
ROOT, UPPER = OVER / "root", OVER / "upper"
PROGRAM = """#include <mire/mire.h>
int main(void) { mire_options *o = mire_options_new(); mire_options_set_app(o, "deb", "1"); mire_options_free(o); return !o; }
"""
STAYS = ("var/lib/mire", "var/lib/dpkg", "var/log", "var/cache", "tmp", "run", "etc/ld.so.cache", "etc/.pwd.lock", "root")
ACCOUNTS = ("etc/passwd", "etc/shadow", "etc/group", "etc/gshadow", "etc/subuid", "etc/subgid")


def in_namespace():
    """This script again, where it may mount; 77 (skipped) if it may not."""
    done = subprocess.run(["unshare", "--mount", sys.executable, __file__, "inside"])
    sys.exit(done.returncode)


def mount(*words):
    return subprocess.run(["mount", *words], capture_output=True).returncode == 0


def make_root():
    OVER.mkdir(exist_ok=True)
    if not mount("--make-rprivate", "/") or not mount("-t", "tmpfs", "-o", "mode=755", "mire-deb", str(OVER)):
        return False
    for one in (ROOT, UPPER, OVER / "work"):
        one.mkdir()
    layers = f"lowerdir=/,upperdir={UPPER},workdir={OVER / 'work'}"
    if not mount("-t", "overlay", "-o", layers, "mire-deb", str(ROOT)):
        return False
    return mount("--rbind", "/proc", str(ROOT / "proc")) and mount("--rbind", "/dev", str(ROOT / "dev"))


def there(*words, **more):
    """What a command in the new root prints."""
    done = subprocess.run(["chroot", ROOT, *words], capture_output=True, text=True, timeout=250, **more)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def changed():
    """Files that differ from this machine's, but those that may: data, and dpkg's own records."""
    found = set()
    for path in UPPER.rglob("*"):
        name = str(path.relative_to(UPPER))
        if path.is_dir() and not path.is_symlink() or name.startswith(STAYS) or name.rstrip("-") in ACCOUNTS:
            continue
        found.add(name)
    return found


def account(name):
    return subprocess.run(["chroot", ROOT, "getent", "passwd", name], capture_output=True, text=True).stdout


def serve_and_ask():
    there("runuser", "-u", "mire", "--", "mired", "check")
    server = subprocess.Popen(["chroot", "--userspec=mire:mire", ROOT, "mired", "serve", "--data-dir", "/var/lib/mire",
                               "--listen", "127.0.0.1:0", "--port-file", "/var/lib/mire/port", "--log-level", "warn"])
    try:
        port = mired.until("it serves", lambda: (ROOT / "var/lib/mire/port").exists() and (ROOT / "var/lib/mire/port").read_text())
        base = f"http://127.0.0.1:{port.strip()}"
        page = mired.until("it is healthy", lambda: subprocess.run(["curl", "-sf", f"{base}/healthz"], capture_output=True).stdout)
        assert page
        if (ROOT / "usr/share/mire/web").exists():  # where Node built it
            assert b"<html" in subprocess.run(["curl", "-sf", f"{base}/"], capture_output=True).stdout.lower(), "no dashboard"
        assert "mk_" in there("runuser", "-u", "mire", "--", "mire", "key", "create", "deb", "--data-dir", "/var/lib/mire")
        there("runuser", "-u", "mire", "--", "mire", "run", "--server", base, "--app", "deb", "--store", "/var/lib/mire/store",
              "--", "/usr/bin/env", "true", env={**os.environ, "HOME": "/var/lib/mire", "MIRE_KEY": "mk_none"})
    finally:
        server.terminate()
        server.wait(120)


def build_program():
    (ROOT / "root/deb.c").write_text(PROGRAM)
    there("sh", "-c", "cd /root && cc deb.c -o shared $(pkg-config --cflags --libs mire) && ./shared")
    there("sh", "-c", "cd /root && cc deb.c -o static $(pkg-config --cflags mire) -l:libmire.a -lcurl -lzstd -ldl -pthread && ./static")


def main():
    if "inside" not in sys.argv:
        in_namespace()
    if os.geteuid() or not make_root():
        print("not run: this user may not mount a file system")
        return 77
    subprocess.run([mired.SOURCE / "deploy/package/package.sh"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "MIRE_BINARY_DIR": str(mired.BINARY)})
    packages = sorted((mired.SOURCE / "build/packages").glob("*.deb"), key=lambda one: one.name.split("_")[0])
    assert [one.name.split("_")[0] for one in packages] == ["libmire", "libmire-dev", "mire-run", "mired"], packages
    for one in packages:
        assert subprocess.run(["dpkg-deb", "-f", one, "Depends"], capture_output=True, text=True).stdout.strip(", \n"), one
        (ROOT / "root" / one.name).write_bytes(one.read_bytes())
    (ROOT / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    before = changed()
    there("sh", "-c", "dpkg --install /root/*.deb")
    assert account("mire").split(":")[5] == "/var/lib/mire", account("mire")
    serve_and_ask()
    build_program()
    names = [one.name.split("_")[0] for one in packages]
    there("dpkg", "--remove", *names)
    assert (ROOT / "etc/mire/mired.conf").exists(), "a removed package keeps its settings"
    there("dpkg", "--purge", *names)
    assert not account("mire"), "the user is left"
    assert (ROOT / "var/lib/mire/postgres").is_dir(), "the data are gone"
    assert changed() == before, changed() - before
    there("sh", "-c", "dpkg --install /root/mired_*.deb")  # the data belong to the new user
    owner = (ROOT / "var/lib/mire/postgres").stat().st_uid
    assert str(owner) == account("mire").split(":")[2], owner
    return 0


if __name__ == "__main__":
    sys.exit(main())
