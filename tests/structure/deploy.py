#!/usr/bin/env python3
"""Files of deploy/ that run mired: what linters of images, compose files, units and proxies ask for. Each rule refuses a copy of
the files in which it is broken."""

import os
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
COMPOSE = ("docker-compose.yml", "deploy/scale/docker-compose.yml", "deploy/scale/citus.yml")
UNIT = ("NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "PrivateDevices=yes",
        "ProtectKernelModules=yes", "RestrictSUIDSGID=yes", "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service")


def image_faults(text):
    """A Dockerfile: pinned bases, small and clean layers, no root, no secret, a health check."""
    stages = re.split(r"(?m)^(?=FROM )", text)[1:]
    last = stages[-1]
    for base in re.findall(r"(?m)^FROM (\S+)", text):
        if not re.search(r"(:[\w.-]*\d|:[a-z]+-slim|@sha256:[0-9a-f]{64})$", base):
            yield f"{base} has no version"
    if re.search(r"(?m)^ADD ", text):
        yield "ADD: COPY adds what is seen"
    if re.search(r"(curl|wget)[^\n]*\|\s*(ba)?sh\b", text):
        yield "a script is run as it comes from the network"
    if re.search(r"(?mi)^(ENV|ARG) .*(password|secret|token|key)\w*=\S", text):
        yield "a secret is in the image"
    if re.search(r"apt-get install(?![^\n]*(\\\n[^\n]*)*--no-install-recommends)", last):
        yield "the image has recommended packages"
    if "apt-get" in last and "rm -rf /var/lib/apt/lists" not in last:
        yield "the image has the lists of packages"
    users = re.findall(r"(?m)^USER (\S+)", last)
    if not users or users[-1] in ("root", "0"):
        yield "the image runs as root"
    if "HEALTHCHECK" not in last:
        yield "the image has no health check"


def service_faults(name, service):
    image = str(service.get("image", ""))
    if image.startswith("docker.io/") and not re.search(r":\d", image):
        yield f"{name}: {image} has no version"
    if image and "no-new-privileges" not in str(service.get("security_opt")):
        yield f"{name}: it may gain privileges"
    if service.get("build") and not (service.get("read_only") and service.get("cap_drop") == ["ALL"]):
        yield f"{name}: it may write to its image, or has capabilities"
    if service.get("privileged") or service.get("network_mode") == "host" or "docker.sock" in str(service.get("volumes")):
        yield f"{name}: it has the host"
    for port in service.get("ports", []):
        if not str(port).startswith("127.0.0.1:"):
            yield f"{name}: port {port} is published on every address"
    for variable, value in (service.get("environment") or {}).items():
        if re.search(r"PASSWORD|SECRET|TOKEN", variable) and not variable.endswith("_FILE") and not re.search(r"\$\{\w+:\?", str(value)):
            yield f"{name}: {variable} has a default"
        if "://" in str(value) and re.search(r"://[^:/@]*:(?!\$\{\w+:\?)[^/@]*@", str(value)):
            yield f"{name}: {variable} has a password with a default"


def compose_faults(text):
    for name, service in yaml.safe_load(text)["services"].items():
        yield from service_faults(name, service)


def unit_faults(text):
    lines = text.splitlines()
    yield from (f"{line} is missing" for line in UNIT if line not in lines)
    if not any(line.startswith("User=") and line != "User=root" for line in lines):
        yield "it runs as root"


def nginx_faults(text):
    """Each place that sets headers of its own sets all of them: nginx inherits none then, and a client could name itself."""
    places = re.findall(r"location [^{]*\{[^}]*\}", text)
    server = re.sub(r"location [^{]*\{[^}]*\}", "", text)
    wanted = set(re.findall(r"proxy_set_header (\S+)", server))
    for place in places:
        own = set(re.findall(r"proxy_set_header (\S+)", place))
        if own and own != wanted:
            yield f"{place.split('{')[0].strip()}: it lacks {', '.join(sorted(wanted - own))}"
        if "auth_basic off" in place and not re.search(r'proxy_set_header X-Mire-User "";', place):
            yield f"{place.split('{')[0].strip()}: nobody was asked for a password, and a name is told"
    if re.search(r"ssl_protocols[^;]*(SSLv|TLSv1(\.1)?[ ;])", text):
        yield "old versions of TLS are spoken"
    if "X-Forwarded-For" in wanted and "$proxy_add_x_forwarded_for" not in server:
        yield "the client's address is not told"


CHECKS = [("deploy/Dockerfile", image_faults), ("deploy/mired.service", unit_faults), ("deploy/nginx.conf", nginx_faults),
          ("deploy/scale/nginx.conf", nginx_faults)] + [(name, compose_faults) for name in COMPOSE]
BREAKS = [  # file, what is there, what comes in its place
    ("deploy/Dockerfile", "debian:bookworm-slim\nRUN", "debian:latest\nRUN"), ("deploy/Dockerfile", "COPY . .", "ADD . ."),
    ("deploy/Dockerfile", "USER mire", "USER root"), ("deploy/Dockerfile", " --no-install-recommends", ""),
    ("deploy/Dockerfile", " \\\n && rm -rf /var/lib/apt/lists/*", ""), ("deploy/Dockerfile", "HEALTHCHECK", "LABEL check="),
    ("deploy/Dockerfile", "ENV MIRED_LISTEN", "ENV DB_PASSWORD=x MIRED_LISTEN"), ("deploy/Dockerfile", "RUN deploy/need.sh", "RUN curl -s http://x | sh"),
    ("docker-compose.yml", '"127.0.0.1:', '"'), ("docker-compose.yml", "postgres:15-bookworm", "postgres"),
    ("docker-compose.yml", "POSTGRES_PASSWORD: ${MIRE_DATABASE_PASSWORD:?set a password for the database}", "POSTGRES_PASSWORD: mire"),
    ("docker-compose.yml", "mire:${MIRE_DATABASE_PASSWORD:?set a password for the database}@", "mire:mire@"),
    ("docker-compose.yml", "read_only: true", "read_only: false"), ("docker-compose.yml", "cap_drop: [ALL]", "privileged: true"),
    ("docker-compose.yml", 'security_opt: ["no-new-privileges"]\n    stop_grace', 'stop_grace'),
    ("deploy/mired.service", "NoNewPrivileges=yes", "NoNewPrivileges=no"), ("deploy/mired.service", "User=mire", "User=root"),
    ("deploy/nginx.conf", '        proxy_set_header X-Mire-User "";\n', ""), ("deploy/nginx.conf", 'X-Mire-User "";', "X-Mire-User $remote_user;"),
    ("deploy/nginx.conf", "TLSv1.2 TLSv1.3", "TLSv1 TLSv1.2"),
]


def main():
    faults = [f"{name}: {fault}" for name, check in CHECKS for fault in check((ROOT / name).read_text())]
    checks = dict(CHECKS)
    for name, old, new in BREAKS:
        text = (ROOT / name).read_text()
        if old not in text:
            faults.append(f"{name}: nothing to break: {old!r}")
        elif not list(checks[name](text.replace(old, new, 1))):
            faults.append(f"{name}: no rule refuses {new!r} for {old!r}")
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
