#!/usr/bin/env python3
"""Each declaration that the port has without Apple's headers, held against Rust crates that are generated from Xcode's.

    functions, structures, constants    of tests/apple/stub/CoreFoundation, with the kind of each argument
    messages                            class names, selectors, and the types of the calls in sdk/src/*/*_apple.c
    names looked up at run time         the notices of UIKit

The crates come from crates.io by cargo, pinned, once, into build/apple/crates. Status 77: they cannot be had.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CRATES = ROOT / "build" / "apple" / "crates"
STUB = ROOT / "tests" / "apple" / "stub" / "CoreFoundation" / "CoreFoundation.h"
PINNED = {"objc2": "0.6.5", **{f"objc2-{part}": "0.3.2" for part in ("core-foundation", "foundation", "quartz-core", "metric-kit", "ui-kit")}}
PLAIN = {"void": "void", "()": "void", "c_void": "void", "unsigned char": "u8", "char": "i8", "int": "i32", "int32_t": "i32", "uint32_t": "u32",
         "long": "i64", "signed long": "i64", "unsigned long": "u64", "size_t": "u64", "double": "f64", "BOOL": "bool", "bool": "bool",
         "usize": "u64", "isize": "i64", "c_double": "f64", "u8": "u8", "u32": "u32", "i32": "i32", "NSUInteger": "u64", "NSInteger": "i64",
         "NSTimeInterval": "f64", "CFRunLoopActivity": "u64", "CFStringBuiltInEncodings": "u32", "Boolean": "u8", "id": "pointer", "SEL": "pointer",
         "Bool": "bool", "Sel": "pointer", "Imp": "pointer", "CFRunLoopRunResult": "i32", "CFNotificationSuspensionBehavior": "i64"}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fetch():
    if not shutil.which("cargo"):
        skip("cargo is not installed")
    if not (CRATES / "vendor" / "done").exists():
        (CRATES / "src").mkdir(parents=True, exist_ok=True)
        (CRATES / "src" / "lib.rs").touch()
        wanted = "\n".join(f'{name} = {{ version = "={version}", default-features = false }}' for name, version in PINNED.items())
        (CRATES / "Cargo.toml").write_text(f'[package]\nname = "declarations"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n{wanted}\n')
        done = subprocess.run(["cargo", "vendor", "-q"], cwd=CRATES, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            skip("the crates cannot be fetched: " + done.stderr.strip()[-200:])
        (CRATES / "vendor" / "done").touch()
    return "\n".join(path.read_text() for name in PINNED for path in sorted((CRATES / "vendor" / name / "src").rglob("*.rs")))


def split(text):
    """At the commas outside of brackets."""
    depth, parts, last = 0, [], 0
    text = text.replace("->", "  ")
    for i, char in enumerate(text):
        depth += (char in "([<") - (char in ")]>")
        if char == "," and not depth:
            parts.append(text[last:i])
            last = i + 1
    return [part.strip() for part in [*parts, text[last:]] if part.strip()]


class Kinds:
    """The kind of a type: its width and sign, or that it is a pointer."""

    def __init__(self, typedefs):
        self.typedefs = typedefs

    def of(self, name):
        name = name.strip()
        if "*" in name or "&" in name or name.startswith(("Option<", "NonNull", "Retained", "Allocated")):
            return "pointer"
        name = re.sub(r"\b(const|extern|struct)\b", "", name).strip().rsplit("::", 1)[-1]
        if name in PLAIN:
            return PLAIN[name]
        return self.of(self.typedefs[name]) if name in self.typedefs else "?" + name


def rust_functions(text, kinds):
    """name -> the kinds of each declaration; deprecated wrappers that convert are among them."""
    found = {}
    for name, parameters, result in re.findall(r"\bfn (\w+)\(([^;{]*?)\)(?: -> ([^;{]+?))?;", text):
        one = [kinds.of(part.split(":", 1)[1]) for part in split(parameters) if ":" in part]
        found.setdefault(name, []).append([*one, kinds.of(result or "()")])
    return found


def rust_methods(text, kinds):
    found = {}
    for selector, parameters, result in re.findall(r"#\[unsafe\(method(?:_family = \w+)?\(([\w:]+)\)\)\](?:\s*#\[[^\n]*\])*\s*"
                                                   r"(?:pub )?(?:unsafe )?fn \w+(?:<[^>]*>)?\(([^;{]*?)\)(?: -> ([^;{]+?))?(?:\s*where[^;{]*)?[;{]", text):
        one = [kinds.of(part.split(":", 1)[1]) for part in split(parameters) if ":" in part and not part.startswith(("self", "this"))]
        found.setdefault(selector, []).append([*one, kinds.of(result or "()")])
    return found


RUST = fetch()
RUST_KINDS = Kinds({name: of for name, of in re.findall(r"pub(?:\(crate\))? type (\w+)\s*=\s*([^;]+);", RUST)} | {"CFRunLoopMode": "*const CFString"})
FUNCTIONS, METHODS = rust_functions(RUST, RUST_KINDS), rust_methods(RUST, RUST_KINDS)
C = re.sub(r"/\*.*?\*/", "", STUB.read_text(), flags=re.S)
C_KINDS = Kinds({name: of for of, name in re.findall(r"typedef ([\w *]+?)\s*\b(\w+);", C)}
                | {name: "*" for name in re.findall(r"typedef [^;{]*\(\*(\w+)\)\(", C)})
SOURCES = {path.name: path.read_text() for path in sorted((ROOT / "sdk" / "src").glob("*/*_apple.c"))}


def arguments(text):
    return [] if text.strip() in ("", "void") else [re.sub(r"\b\w+$", "", part) if part.count(" ") or "*" in part else part for part in split(text)]


class Declarations(unittest.TestCase):
    def test_functions(self):
        found = re.findall(r"extern ([\w ]+?[ *]+)(\w+)\(([^;]*)\);", C)
        self.assertGreater(len(found), 15)
        for result, name, parameters in found:
            with self.subTest(name):
                own = [*map(C_KINDS.of, arguments(" ".join(parameters.split()))), C_KINDS.of(result)]
                self.assertNotIn("?", "".join(own))
                if name == "CFRelease":  # the crate's own, not a generated one
                    self.assertEqual(own, ["pointer", "void"])
                    continue
                self.assertIn(own, FUNCTIONS[name])

    def test_variables(self):
        for name in re.findall(r"extern const \w+ (\w+);", C):
            self.assertRegex(RUST, rf"pub static {name}: Option<&'static")

    def test_structures(self):
        for body, name in re.findall(r"typedef struct \{(.*?)\} (\w+);", C, re.S):
            with self.subTest(name):
                fields = [line.strip() for line in body.split(";") if line.strip()]
                own = [(re.search(r"\(\*(\w+)\)|(\w+)$", line), "pointer" if "(*" in line else C_KINDS.of(re.sub(r"\w+$", "", line))) for line in fields]
                rust = re.search(rf"pub struct {name} \{{(.*?)\n\}}", RUST, re.S).group(1)
                theirs = [(part.split(":")[0].split()[-1], RUST_KINDS.of(part.split(":", 1)[1])) for part in split(rust)]
                self.assertEqual([(match.group(1) or match.group(2), kind) for match, kind in own], theirs)

    def test_constants(self):
        def value(text):
            return eval(text.rstrip("u"))  # a number, or a shift of one
        found = re.findall(r"(kCFRunLoop\w+) = ([\d <]+)", C) + re.findall(r"#define (kCF\w+) (\w+)", C)
        self.assertGreater(len(found), 6)
        for name, number in found:
            with self.subTest(name):
                theirs = re.search(rf'doc\(alias = "{name}"\)\]\s*(?:pub )?const \w+(?:: Self)? = (?:Self\()?([^;)]+)', RUST).group(1)
                self.assertEqual(value(number), value(theirs))

    def test_classes_protocols_and_notices(self):
        text = "\n".join(SOURCES.values())
        names = set(re.findall(r'(?:objc_getClass|mire__class)\("(\w+)"\)', text))
        self.assertGreaterEqual(names, {"MXMetricManager", "NSMutableURLRequest", "NSObject", "NSURLSession"})
        for name in names:
            self.assertRegex(RUST, rf"(pub struct {name}\b|class!\({name}\)|\b{name};)", name)
        for name in re.findall(r'objc_getProtocol\("(\w+)"\)', text):
            self.assertRegex(RUST, rf"pub unsafe trait {name}\b")
        for name in re.findall(r'"(UI\w+Notification)"', text):
            self.assertRegex(RUST, rf"pub static {name}: ")

    def assert_message(self, selector, own):
        if selector == "release":  # of the runtime, whose crate never sends it
            return
        self.assertTrue(selector in METHODS, "no such method")
        self.assertEqual(len(own) - 1, selector.count(":"))
        self.assertTrue(any(own[:-1] == other[:-1] and own[-1] in (other[-1], "void", "pointer" if other[-1] == "void" else other[-1])
                            for other in METHODS[selector]), (own, METHODS[selector]))

    def test_messages(self):
        """Each call of objc_msgSend has the types of its selector's method. A helper's result that nobody reads may be any."""
        count = 0
        for name, text in SOURCES.items():
            casts = re.findall(r"\(\(([\w *]+?)\s*\(\*\)\(id, SEL(?:, ([^()]*))?\)\)objc_msgSend\)\s*\([^;]*?sel_registerName\(\"([\w:]+)\"\)", text)
            helpers = [("id", "", selector) for selector in re.findall(r'\b(?:mire__)?call\([^;"]*(?:"\w+"\))?, "([\w]+)"\)', text)]
            helpers += [("id", "id", selector) for selector in re.findall(r'\b(?:mire__)?call_with\([^;]*?,\s*"([\w:]+:)", ', text)]
            helpers += [("unsigned long", "", selector) for selector in re.findall(r'\bnumber\(\w+, "(\w+)"\)', text)]
            for result, parameters, selector in [*casts, *helpers]:
                with self.subTest(file=name, selector=selector):
                    self.assert_message(selector, [*map(C_KINDS.of, split(parameters)), C_KINDS.of(result)])
                    count += 1
        self.assertGreater(count, 20)

    def test_methods_of_the_library_are_the_protocols(self):
        for selector, types in re.findall(r'class_addMethod\(\w+, \s*sel_registerName\("([\w:]+)"\),\s*\(IMP\)\w+, "([^"]+)"\)', "\n".join(SOURCES.values())):
            with self.subTest(selector):
                self.assertEqual(types, "v@:" + "@" * selector.count(":") + "?" * selector.endswith("completionHandler:"))
                if "eceive" in selector or "URLSession" in selector:
                    self.assert_message(selector, ["pointer"] * selector.count(":") + ["void"])


if __name__ == "__main__":
    unittest.main()
