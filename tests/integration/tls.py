#!/usr/bin/env python3
"""TLS in mired itself: served, resumed, its certificate replaced while it runs; clients that stall cost nothing."""

import contextlib
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from raw import Server, answers, head, read_all, status_of  # noqa: E402


def make_certificate(folder, name):
    """A certificate for localhost and 127.0.0.1 that stands for itself; returns its bytes as sent."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.new",
                    "-out", folder / "cert.new"], check=True, capture_output=True)
    (folder / "key.new").rename(folder / "key.pem")
    (folder / "cert.new").rename(folder / "cert.pem")
    return ssl.PEM_cert_to_DER_cert((folder / "cert.pem").read_text())


class Secure(Server):
    """Asks over TLS, trusting its certificate."""

    def start(self):
        super().start()
        self.url = f"https://127.0.0.1:{self.port}"
        self.trust = ssl.create_default_context(cafile=self.folder / "cert.pem")
        urllib.request.install_opener(urllib.request.build_opener(urllib.request.HTTPSHandler(context=self.trust)))

    def secure(self, context=None, **more):
        return (context or self.trust).wrap_socket(self.connect(), server_hostname="localhost", **more)

    def busy_s(self):
        """Processor time of mired itself."""
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("tls")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.certificate = make_certificate(cls.folder, "first")
        cls.server = Secure(cls.folder, f"--tls-cert={cls.folder / 'cert.pem'}", f"--tls-key={cls.folder / 'key.pem'}", "--headers-s=4")
        cls.addClassCleanup(cls.server.stop)
        cls.key = cls.server.key("shop", "ingest")
        mired.until("the key is known", lambda: cls.server.report(cls.key) == 202)

    def test_clients_are_served(self):
        self.assertEqual(self.server.report(self.key), 202)
        large = mired.report(mired.report_id(), more=2 << 20)
        self.assertEqual(self.server.ask("POST", "/api/v1/reports", self.key, large)[0], 202)
        for more in ([], ["--tlsv1.2", "--tls-max", "1.2"], ["--tlsv1.3"], ["-H", "Transfer-Encoding: chunked"]):
            done = subprocess.run(["curl", "-s", "--cacert", self.folder / "cert.pem", "-o", "/dev/null", "-w", "%{http_code}", *more,
                                   "-H", f"Authorization: Bearer {self.key}", "--data-binary", "@-",
                                   f"{self.server.url}/api/v1/reports"], input=mired.report(mired.report_id()), capture_output=True,
                                  timeout=60)
            self.assertEqual(done.stdout, b"202", more)

    def test_requests_may_be_cut_anywhere_and_follow_each_other(self):
        raw = head("GET", "/healthz") * 20 + head("GET", "/metrics", "Connection: close")
        with self.server.secure() as sock:
            for byte in raw[:200]:
                sock.sendall(bytes([byte]))
            sock.sendall(raw[200:])
            got = read_all(sock)
        self.assertEqual(answers(got), 21)
        # An answer of some hundred KB, taken slowly, is whole.
        with self.server.secure() as sock:
            sock.sendall(head("GET", "/metrics") * 100 + head("GET", "/healthz", "Connection: close"))
            time.sleep(0.5)
            self.assertEqual(answers(read_all(sock, 30)), 101)

    def test_sessions_are_resumed(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=self.folder / "cert.pem")
            context.minimum_version = context.maximum_version = version
            with self.server.secure(context) as sock:
                sock.sendall(head("GET", "/healthz", "Connection: close"))
                self.assertEqual(status_of(read_all(sock)), 200)
                session = sock.session
            with self.server.secure(context, session=session) as sock:
                self.assertTrue(sock.session_reused, version)

    def test_old_protocols_and_plain_requests_are_refused(self):
        with self.server.connect() as sock:
            sock.sendall(head("GET", "/healthz"))
            self.assertFalse(read_all(sock).startswith(b"HTTP/"))
        context = ssl.create_default_context(cafile=self.folder / "cert.pem")
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.server.secure(context).close()

    def test_the_certificate_is_replaced_while_mired_runs(self):
        def served():
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            with self.server.secure(context) as sock:
                return sock.getpeercert(binary_form=True)

        before = served()
        with self.server.secure() as open_one:
            (self.folder / "cert.pem").rename(self.folder / "cert.old")
            (self.folder / "cert.pem").write_text("no certificate")
            self.server.process.send_signal(signal.SIGHUP)
            mired.until("it is told", lambda: self.server.logged("tls.failed"))
            self.assertEqual(served(), before)
            (self.folder / "cert.old").rename(self.folder / "cert.pem")
            after = make_certificate(self.folder, "second")
            self.server.process.send_signal(signal.SIGHUP)
            mired.until("the new one is served", lambda: served() == after)
            open_one.sendall(head("GET", "/healthz", "Connection: close"))
            self.assertEqual(status_of(read_all(open_one)), 200)
        self.server.trust.load_verify_locations(self.folder / "cert.pem")
        self.assertEqual(self.server.report(self.key), 202)

    def test_handshakes_that_stall_cost_no_time_and_are_cut_off(self):
        shy, out = ssl.MemoryBIO(), ssl.MemoryBIO()
        hello = self.server.trust.wrap_bio(shy, out, server_hostname="localhost")
        with contextlib.suppress(ssl.SSLWantReadError):
            hello.do_handshake()
        first = out.read()
        self.assertGreater(len(first), 100)
        before = self.server.gauge('mire_http_cut_total{reason="slow_headers"}')
        socks = []
        for at in range(120):  # nothing; the half of a first message; the whole of it and no more
            socks.append(self.server.connect())
            if at % 3:
                socks[-1].sendall(first[: len(first) // (3 - at % 3)])
        time.sleep(0.5)
        begun, busy = time.monotonic(), self.server.busy_s()
        time.sleep(2)
        share = (self.server.busy_s() - busy) / (time.monotonic() - begun)
        self.assertLess(share, 0.05, "of a processor, for 120 clients and mired's own work")
        self.assertEqual(self.server.report(self.key), 202)
        mired.until("they are cut off", lambda: self.server.gauge('mire_http_cut_total{reason="slow_headers"}') >= before + 80, 60)
        for sock in socks:
            sock.close()
        self.assertEqual(self.server.report(self.key), 202)

    def test_files_that_do_not_belong_together_are_told_at_the_start(self):
        folder = self.folder / "other"
        folder.mkdir()
        make_certificate(folder, "other")
        for cert, key in ((self.folder / "cert.pem", folder / "key.pem"), (folder / "none.pem", folder / "key.pem"),
                          (folder / "key.pem", folder / "key.pem")):
            done = subprocess.run([mired.BINARY / "server/mired", "serve", "--listen=127.0.0.1:0", f"--data-dir={folder / 'data'}",
                                   f"--tls-cert={cert}", f"--tls-key={key}"], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 1)
            self.assertIn("tls.failed", done.stderr)
            self.assertIn("tls_cert and tls_key name PEM files", done.stderr)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
