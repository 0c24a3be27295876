"""clang-tidy over the whole tree (./dev check). Nearly all of its time goes into the headers of CAF and Boost, so the
files of a folder are checked a dozen at a time: put one behind the other, each under its own name and lines. Files that
define the same name go into different dozens; a dozen that still does not compile as one is checked file by file.

    tests/tidy.py BUILD [FILE...]     BUILD: the folder of a configured build; without files: all of them
"""

import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("core", "storage", "actors", "net", "runtime")
TOGETHER = 12

# Names that a file defines outside of classes and functions, which all begin in the first column here.
DEFINED = re.compile(
    r"^(?! )(?:(?:struct|class|enum|enum class|using) (\w+)\b(?!::)"  # types, aliases
    r"|(?:template <.*> )?[\w:<>,&* \[\]]+?[ &*](\w+)(?:\(|\{| = |\[))",  # functions, constants
    re.MULTILINE,
)


def defined_names(path):
    names = {name for found in DEFINED.finditer(path.read_text()) for name in found.groups() if name}
    return names - {"if", "for", "while", "return", "troupe"}


def dozens(files):
    """Files of one folder, as few lists as their names allow."""
    lists = []
    for path in files:
        names = defined_names(path)
        place = next((l for l in lists if len(l[0]) < TOGETHER and not l[1] & names), None)
        if not place:
            place = ([], set())
            lists.append(place)
        place[0].append(path)
        place[1].update(names)
    return [files for files, _ in lists]


def commands(build):
    """How each file is compiled. clang cannot read GCC's precompiled headers: it gets the headers themselves."""
    out = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for option in ("-o", "-c"):
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        command = shlex.join(w for w in words if w != "-Winvalid-pch")
        out[Path(entry["file"])] = re.sub(r"\S*/(core|actors)/CMakeFiles/\S*cmake_pch\.hxx", rf"{ROOT}/\1/pch.hpp", command)
    return out


def joined(files, folder):
    """One file that holds all of them, without what an earlier one has included; and where each line of it is from."""
    whole = folder / ("-".join((*files[0].relative_to(ROOT).parts[:-1], files[0].stem)) + ".cpp")
    lines, places, included = [], [], set()
    for path in files:
        own = path.read_text().splitlines()
        lines += ["" if line in included else line for line in own]
        places += [f"{path}:{n}" for n in range(1, len(own) + 1)]
        included |= {line for line in own if line.startswith("#include")}
    whole.write_text("\n".join(lines) + "\n")
    return whole, places


def check(files, how, folder):
    """What clang-tidy says of these files; nothing where they are clean."""
    source, places = joined(files, folder)
    database = folder / source.stem
    database.mkdir(exist_ok=True)
    entry = {"directory": str(ROOT), "file": str(source), "command": f"{how[files[0]]} -c {shlex.quote(str(source))}"}
    (database / "compile_commands.json").write_text(json.dumps([entry]))
    config = f"--config-file={ROOT}/.clang-tidy"
    done = subprocess.run(["clang-tidy", "-p", database, config, "--quiet", source], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    found = re.sub(rf"{re.escape(str(source))}:(\d+)", lambda m: places[int(m[1]) - 1], done.stdout or done.stderr)
    if "[clang-diagnostic-error]" in done.stdout and len(files) > 1:
        return "".join(check([path], how, folder) for path in files)
    return found


def main(build, *chosen):
    how = commands(Path(build).resolve())
    listed = subprocess.run(["git", "ls-files", *(chosen or [f"{l}/*.cpp" for l in LAYERS])], cwd=ROOT, capture_output=True, text=True)
    files = [ROOT / line for line in listed.stdout.split() if ROOT / line in how]
    folders = {}
    for path in files:
        folders.setdefault(path.parent, []).append(path)
    folder = ROOT / "build" / "tidy"
    folder.mkdir(parents=True, exist_ok=True)
    work = [dozen for own in folders.values() for dozen in dozens(own)]
    failed = False
    with ThreadPoolExecutor(cpu_count()) as pool:
        for dozen, found in zip(work, pool.map(lambda d: check(d, how, folder), work)):
            failed |= bool(found)
            names = " ".join(str(p.relative_to(ROOT)) for p in dozen)
            print(f"{'not clean' if found else 'clean'}: {names}\n{found}", end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
