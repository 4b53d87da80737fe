#!/usr/bin/env python3
"""integration/system-symbols - names from files of Mach-O for formats that tell where code lies from the begin of its module: a crash of
MetricKit, an .ips, Matrix's memory report. The program is linked at 0x100000000, the library lies where a shared cache has it, and is sent
as the folder that Xcode makes of a device. Exit status 77: clang or lld is not installed."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import time
import uuid

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

LIBRARY = """
int moved;
__attribute__((noinline)) int view_layout(int n) { for (int i = 0; i < n; i++) moved += i * n; return moved; }
"""
PROGRAM = """
int view_layout(int n);
int sum;
__attribute__((noinline)) int cart_total(int n) { sum += view_layout(n); return sum * n; }
__attribute__((noinline)) int cart_shown(int n) { sum -= n; return cart_total(n) + 1; }
int main(int argc, char **argv) { (void)argv; return cart_shown(argc); }
"""
CACHE_BEGIN = 0x180400000
FRAMEWORK = "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore"


def commands(data):
    """Place and number of each load command."""
    at = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        yield at, command
        at += size


def moved(data, by):
    """A library as it lies in a shared cache: all addresses of segments, sections and symbols are higher."""
    data = bytearray(data)

    def add(at):
        struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + by)

    for at, command in commands(data):
        if command == 0x19:
            add(at + 24)
            for section in range(at + 72, at + 72 + 80 * struct.unpack_from("<I", data, at + 64)[0], 80):
                add(section + 32)
        elif command == 2:
            symbols, count = struct.unpack_from("<II", data, at + 8)
            for symbol in range(symbols, symbols + 16 * count, 16):
                if data[symbol + 5]:
                    add(symbol + 8)
    return bytes(data)


class Image:
    """A linked file, and where its functions lie from its begin."""

    def __init__(self, folder, name, source, begin, *flags):
        made, self.path = folder / f"{name}.o", folder / name
        (folder / f"{name}.c").write_text(source)
        subprocess.run(["clang", "-target", "arm64-apple-ios14", "-O1", "-c", folder / f"{name}.c", "-o", made], check=True)
        lld = shutil.which("ld64.lld") or shutil.which("ld64.lld-14")
        subprocess.run([lld, "-arch", "arm64", "-platform_version", "ios", "14.0", "14.0", "-undefined", "dynamic_lookup", *flags, made, "-o",
                        self.path], check=True)
        data = self.path.read_bytes()
        self.uuid = next(uuid.UUID(bytes=data[at + 8:at + 24]) for at, command in commands(data) if command == 0x1B)
        rows = subprocess.run(["llvm-nm", "--defined-only", self.path], check=True, capture_output=True, text=True).stdout.splitlines()
        self.offset = {name.lstrip("_"): int(at, 16) - begin for at, _, name in map(str.split, rows)}


def metrickit(frames):
    """A crash: the innermost frame is the root."""
    tree = None
    for image, name, function in reversed(frames):
        offset = image.offset[function] + 8
        frame = {"binaryName": name, "binaryUUID": str(image.uuid).upper(), "address": 0x104000000 + offset, "offsetIntoBinaryTextSegment": offset}
        tree = frame | ({"subFrames": [tree]} if tree else {})
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return {"timeStampBegin": f"{day} 00:00:00", "timeStampEnd": f"{day} 00:00:01", "crashDiagnostics": [{
        "version": "1.0.0",
        "diagnosticMetaData": {"appVersion": "4.2", "bundleIdentifier": "org.example.shop", "osVersion": "iPhone OS 17.5 (21F79)",
                               "platformArchitecture": "arm64e", "exceptionType": 1, "signal": 11},
        "callStackTree": {"callStackPerThread": True, "callStacks": [{"threadAttributed": True, "callStackRootFrames": [tree]}]}}]}


def ips(frames):
    """The same as a file of a device."""
    images = [{"source": "P", "arch": "arm64", "base": 0x104000000 + (i << 28), "size": 65536, "uuid": str(image.uuid), "name": name,
               "path": FRAMEWORK if name == "UIKitCore" else f"/private/var/Shop.app/{name}"} for i, (image, name, _) in enumerate(frames)]
    body = {"procName": "Shop", "bundleInfo": {"CFBundleIdentifier": "org.example.shop"}, "captureTime": time.strftime("%Y-%m-%d %H:%M:%S.0000 +0000"),
            "exception": {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV"}, "faultingThread": 0, "usedImages": images,
            "threads": [{"id": 1, "triggered": True, "frames": [{"imageIndex": i, "imageOffset": image.offset[function] + 8}
                                                                for i, (image, _, function) in enumerate(frames)]}]}
    head = {"app_name": "Shop", "bug_type": "309", "timestamp": body["captureTime"], "os_version": "iPhone OS 17.5 (21F79)",
            "incident_id": "6156848E-344E-4D9E-84E0-87AFD0D0AE7B"}
    return json.dumps(head) + "\n" + json.dumps(body)


def matrix_memory(frames):
    """A memory report: no address at all."""
    rows = [{"uuid": image.uuid.hex, "offset": image.offset[function] + 8} for image, _, function in frames]
    now = int(time.time() * 1000)
    return {"head": {"protocol_ver": 1, "phone": "iPhone14,2", "os_ver": "17.5", "launch_time": now - 60000, "report_time": now,
                     "app_uuid": frames[1][0].uuid.hex},
            "items": [{"tag": "iOS_MemStat", "info": "", "scene": "Cart", "name": "Cart", "size": 4 << 20, "count": 4,
                       "stacks": [{"caller": "", "size": 4 << 20, "count": 4, "frames": rows}]}]}


def device_support(folder, library):
    """What Xcode copies of a device, and a shared cache beside it."""
    root = folder / "iOS DeviceSupport/iPhone14,2 17.5 (21F79)"
    place = root / f"Symbols{FRAMEWORK}"
    place.parent.mkdir(parents=True)
    place.write_bytes(moved(library.path.read_bytes(), CACHE_BEGIN))
    (root / "Info.plist").write_text("<plist/>" + " " * 100)
    (place.parent / "Info.plist").write_bytes(b"bplist00" + bytes(100))
    cache = root / "Symbols/System/Library/Caches/com.apple.dyld/dyld_shared_cache_arm64e"
    cache.parent.mkdir(parents=True)
    cache.write_bytes(b"dyld_v1  arm64e\0" + bytes(4096))
    return folder / "iOS DeviceSupport"


def main():
    if not all(map(shutil.which, ("clang", "llvm-nm"))) or not (shutil.which("ld64.lld") or shutil.which("ld64.lld-14")):
        print("skipped: clang, lld or llvm-nm is not installed")
        return 77
    with mired.scratch("system-symbols") as name:
        folder = pathlib.Path(name)
        library = Image(folder, "UIKitCore", LIBRARY, 0, "-dylib", "-install_name", FRAMEWORK)
        program = Image(folder, "Shop", PROGRAM, 0x100000000, "-execute", "-e", "_main")
        frames = [(library, "UIKitCore", "view_layout"), (program, "Shop", "cart_total"), (program, "Shop", "cart_shown"), (program, "Shop", "main")]
        (folder / "kit.json").write_text(json.dumps(metrickit(frames)))
        (folder / "crash.ips").write_text(ips(frames))
        (folder / "memory.json").write_text(json.dumps(matrix_memory(frames)))
        server = mired.Mired(folder)
        try:
            keys = {scope: server.key("shop", scope) for scope in ("ingest", "symbols")}
            server.mire("import", *(folder / at for at in ("kit.json", "crash.ips", "memory.json")), MIRE_KEY=keys["ingest"])
            address = f"+0x{program.offset['cart_total'] + 7:x}"
            mired.until("three issues without names", lambda: sum(address in issue["caller1"] for issue in server.issues("shop")) >= 2)
            said = server.mire("symbols", "upload", device_support(folder, library), MIRE_KEY=keys["symbols"])
            assert "1 stored, 0 there already, 0 failed" in said and "UIKitCore" in said, said
            # The cache is no debug file; the libraries that Xcode made of it are.
            said = server.mire("symbols", "upload", folder / "iOS DeviceSupport/iPhone14,2 17.5 (21F79)/Symbols/System/Library/Caches", code=1,
                               MIRE_KEY=keys["symbols"])
            assert "ipsw dyld split" in said, said
            server.mire("symbols", "upload", program.path, MIRE_KEY=keys["symbols"])
            mired.until("each place has its name", lambda: {issue["caller1"] for issue in server.issues("shop")} == {"cart_total"})
            # An issue has its name with the first of its reports; the others are derived again by and by.
            for issue in server.issues("shop"):
                if issue["category"] != "memory":
                    latest = f"/apps/shop/issues/{issue['id']}/reports/latest"
                    mired.until(f"{issue['id']} has the system's name", lambda: "view_layout" in json.dumps(server.get(latest)))
            missing = {row["name"] for row in server.get("/apps/shop/symbols")["missing"]}
            assert not any("UIKitCore" in name for name in missing), missing
        finally:
            server.stop()
    return 0


sys.exit(main())
