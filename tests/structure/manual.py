#!/usr/bin/python3
"""The help, the manual pages, the shells' completions and the documents agree: all commands, verbs and options of `mire`, and the settings of `mired`."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release")) / "server"
faults = []


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **more)


def mire(*words):
    return run(BINARY / "mire", *words).stdout


class Command:
    """A command, or a part of one that has a help of its own."""

    def __init__(self, words):
        self.words, self.help = words, mire(*words, "--help")
        self.options = set(re.findall(r"^  --([a-z0-9-]+)", self.help, re.M)) | {"help"}
        self.verbs = {}
        for word, rest in re.findall(rf"^(?:Usage:|      ) mire {' '.join(words)} ([a-z]+)\b(.*)", self.help, re.M):
            self.verbs.setdefault(word, rest)


def commands():
    for name in re.findall(r"^  ([a-z]+)  ", mire("--help"), re.M):
        yield Command([name])
    for words in (["issues", "merge"], ["issues", "split"], ["issues", "unmerge"], ["symbols", "upload"], ["symbols", "look"]):
        yield Command(words)


def check_manual(command, folder):
    name = "mire-" + "-".join(command.words)
    page = folder / f"{name}.1"
    if not page.exists():
        faults.append(f"{name}.1 is missing")
        return
    text = page.read_text()
    if text != mire("man", *command.words):
        faults.append(f"{name}.1 is not what `mire man` prints")
    done = run("groff", "-man", "-ww", "-Tutf8", page) if shutil.which("groff") else None
    if done and done.stderr:
        faults.append(f"{name}.1: {done.stderr.splitlines()[0]}")
    if command.words == ["run"]:
        return
    options = {o.replace("\\-", "-") for o in re.findall(r"^\.TP\n\\fB\\-\\-([a-z0-9\\-]+)\\fR", text, re.M)}
    if options != command.options:
        faults.append(f"{name}.1 and --help have different options: {options ^ command.options}")


def check_completions(all_commands, folder):
    bash, zsh, fish = ((folder / name).read_text() for name in ("mire.bash", "_mire", "mire.fish"))
    for shell, name, text in (("bash", "mire.bash", bash), ("zsh", "_mire", zsh), ("fish", "mire.fish", fish)):
        if text != mire("completion", shell):
            faults.append(f"{name} is not what `mire completion {shell}` prints")
    for command in all_commands:
        key = " ".join(command.words)
        part = re.search(rf"^    '{key}'\)\n(.*?) ;;\n(?=    '|    esac)", bash, re.M | re.S)
        offered = set(re.search(r"words='([^']*)'", part[1])[1].split())
        if offered != {f"--{option}" for option in command.options}:
            faults.append(f"bash offers other options of {key}: {offered}")
        verbs = set(re.search(r"verbs='([^']*)'", part[1])[1].split())
        told = set(command.verbs) if key not in ("issue", "issues", "completion", "forget") else verbs
        if verbs != told:
            faults.append(f"bash offers other verbs of {key}: {verbs ^ told}")
        part = re.search(rf"^    '{key}'\)\n(.*?) ;;\n", zsh, re.M | re.S)
        offered = set(re.findall(r"'--([a-z0-9-]+)\[", part[1]))
        if offered != command.options:
            faults.append(f"zsh offers other options of {key}: {offered ^ command.options}")
        condition = "__fish_seen_subcommand_from " + "; and __fish_seen_subcommand_from ".join(command.words)
        offered = set(re.findall(rf"-n '{re.escape(condition)}' -l ([a-z0-9-]+)", fish))
        if offered != command.options:
            faults.append(f"fish offers other options of {key}: {offered ^ command.options}")


def bash_offers(folder, *words):
    script = f'source "{folder}/mire.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mire; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return set(run("bash", "-c", script, "bash", *words).stdout.split())


def check_shells(folder):
    """The scripts in their shells."""
    for words, wanted in ((["mire", "iss"], {"issues", "issue"}), (["mire", "key", ""], {"create", "list", "rotate", "revoke"}),
                          (["mire", "key", "create", "shop", "--sc"], {"--scope"}), (["mire", "key", "create", "--scope", "r"], {"rollout", "rules", "read"}),
                          (["mire", "symbols", "upload", "--jo"], {"--jobs"}), (["mire", "symbols", "l"], {"look"}), (["mire", "issues", "m"], {"merge"})):
        if bash_offers(folder, *words) != wanted:
            faults.append(f"bash completes {words} with {bash_offers(folder, *words)}")
    if shutil.which("zsh"):
        # The functions of zsh that the script calls print their arguments here.
        script = ('compdef() {}; _describe() { print -rl -- "${(@P)2}" }; _arguments() { print -rl -- "$@" }; ' + f'source "{folder}/_mire"; '
                  'words=("$@"); CURRENT=$#; _mire')
        for words, wanted in ((["mire", "iss"], "issues:list what"), (["mire", "key", ""], "--scope["), (["mire", "symbols", "look", "--"], "--arch["),
                              (["mire", "rollout", ""], 'ramp\\:"')):
            done = run("zsh", "-fc", script, "zsh", *words)
            if wanted not in done.stdout or done.stderr:
                faults.append(f"zsh completes {words} with {done.stdout[:200]} {done.stderr}")
    if shutil.which("fish"):
        for line, wanted in (("mire iss", {"issues", "issue"}), ("mire key create --scope ro", {"rollout"}), ("mire symbols look --ar", {"--arch"})):
            done = run("fish", "--no-config", "-c", f"source {folder}/mire.fish; complete -C '{line}'")
            offered = {text.split("\t")[0] for text in done.stdout.splitlines()}
            if not wanted <= offered or done.stderr:
                faults.append(f"fish completes {line} with {offered} {done.stderr}")


def check_line(where, words, by_name):
    """A command line of a document: its words exist."""
    name = words[0]
    if name not in by_name:
        faults.append(f"{where}: there is no command `mire {name}`")
        return
    command = by_name.get(" ".join(words[:2]), by_name[name])
    options = command.options | (by_name[name].options if command is by_name[name] else set())
    if name in ("issues", "symbols") and command is by_name[name]:
        for other in by_name.values():
            options |= other.options if other.words[0] == name else set()
    if name == "run":
        words = words[:words.index("--")] if "--" in words else words
        options |= {"help", "version"}
    for option in re.findall(r"(?<!\S)--([a-z0-9-]+)", " ".join(words)):
        if option not in options:
            faults.append(f"{where}: mire {' '.join(command.words)} has no option --{option}")
    if command.verbs and name not in ("issue", "issues", "completion", "forget") and len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]) and words[1] not in command.verbs:
        faults.append(f"{where}: mire {name} has no verb {words[1]}")


def check_documents(all_commands):
    by_name = {" ".join(command.words): command for command in all_commands}
    told = set()
    for path in [SOURCE / "README.md", SOURCE / "deploy/README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
        text = path.read_text()
        code = re.findall(r"`(mire [^`\n]+)`", text) + re.findall(r"(?:^|[\s($])(mire [a-z][^`\n]*)", "\n".join(re.findall(r"^```.*?\n(.*?)^```", text, re.M | re.S)))
        for line in code:
            words = re.split(r"[|;)]| \\$|  #| # ", line)[0].split()[1:]
            if words and re.fullmatch(r"[a-z]+", words[0]):
                told.add(words[0])
                check_line(path.relative_to(SOURCE), words, by_name)
    for name in {command.words[0] for command in all_commands} - told:
        faults.append(f"no document names `mire {name}`")


def check_mired(folder):
    flags = set(re.findall(r"^  --([a-z0-9-]+) ", run(BINARY / "mired", "serve", "--help").stdout, re.M))
    table = set(re.findall(r"^\| `([a-z_]+)` \|", (SOURCE / "docs/configuration.md").read_text(), re.M))
    page = (folder / "mired.8").read_text().replace("\\-", "-")
    for flag in flags:
        if flag.replace("-", "_") not in table:
            faults.append(f"docs/configuration.md lacks {flag}")
        if f"  --{flag} " not in page:
            faults.append(f"mired.8 lacks {flag}")
    if len(flags) < 20:
        faults.append(f"`mired serve --help` lists {flags}")


def main():
    all_commands = list(commands())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "manual"
        done = run(SOURCE / "cmake/manual.sh", BINARY / "mire", BINARY / "mired", folder)
        if done.returncode:
            faults.append(done.stderr)
        for command in all_commands:
            check_manual(command, folder)
        check_completions(all_commands, folder)
        check_shells(folder)
        check_mired(folder)
    check_documents(all_commands)
    for path in sorted((SOURCE / "server/src/cli").glob("*.c")):
        if "usage[]" in path.read_text():
            faults.append(f"{path.relative_to(SOURCE)} has a help of its own; cli_begin makes it of the table")
    print("\n".join(faults))
    sys.exit(bool(faults))


main()
