"""The shape of the house, checked from its files alone (./dev check): includes go one way, libraries show where they
may, files stay short, docs/architecture.md maps the folders that there are, and nothing names one machine's paths."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each layer may include, in the order of docs/architecture.md. It is what the libraries link, too.
LAYERS = {
    "core": {"core"},
    "storage": {"core", "storage"},
    "actors": {"core", "storage", "actors"},
    "net": {"core", "storage", "actors", "net"},
    "runtime": {"core", "storage", "actors", "net", "runtime"},
    "testing": {"core", "storage", "actors", "net", "testing"},
}
# net/ reaches actors/ through its map of messages, and through nothing else.
NET_MAY_INCLUDE = {"actors/actors.hpp", "actors/pch.hpp"}

# Where a library's headers may be seen.
LIBRARIES = {
    "lmdb.h": {"storage"},
    "curl/": {"net"},
    "boost/beast": {"net"},
    "boost/asio": {"net", "runtime", "testing"},
    "openssl/": {"net"},
    "caf/": {"actors", "net", "runtime", "testing"},
    "spdlog/": {"actors", "net", "runtime"},
    "CLI/": {"runtime"},
}

LONGEST = 420
SOURCES = {".cpp", ".hpp", ".mjs", ".js", ".ts", ".py", ".sh", ".cmake"}

# Put together here, so that this file does not hold them itself.
FORBIDDEN = ["/" + "work/", "/tmp/" + "b.sh", "/" + "root/"]


def repository_files():
    """Tracked files, and new ones that git does not ignore."""
    out = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout
    return sorted(f for f in out.split("\0") if f and (ROOT / f).is_file())


def text_of(name):
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None  # not a text


def check_includes(name, text):
    layer = name.split("/")[0]
    if layer not in LAYERS or not name.endswith((".cpp", ".hpp")):
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if not found:
            continue
        where, (quote, target) = f"{name}:{number}", found.groups()
        if quote == '"':
            other = target.split("/")[0]
            if other not in LAYERS:
                yield f'{where}: "{target}" is not named from the root of the repository'
            elif other not in LAYERS[layer]:
                yield f"{where}: {layer}/ must not include {other}/"
            elif layer == "net" and other == "actors" and target not in NET_MAY_INCLUDE:
                yield f"{where}: net/ may include actors/actors.hpp only, not {target}"
            elif not (ROOT / target).is_file():
                yield f"{where}: {target} does not exist"
        for library, layers in LIBRARIES.items():
            if target.startswith(library) and layer not in layers:
                yield f"{where}: {target} may be seen in {', '.join(sorted(layers))} only"


def check_links(name, text):
    """The libraries that a layer links are layers that it may include."""
    layer = name.removesuffix("/CMakeLists.txt")
    if layer not in LAYERS or name == layer:
        return
    for call in re.findall(r"target_link_libraries\(troupe_\w+([^)]*)\)", text):
        for other in re.findall(r"troupe_(\w+)", call):
            if other in LAYERS and other not in LAYERS[layer]:
                yield f"{name}: {layer} must not link {other}"


def check_size(name, text):
    lines = text.count("\n")
    if Path(name).suffix in SOURCES and lines > LONGEST:
        yield f"{name}: {lines} lines, at most {LONGEST}"


def check_words(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for word in FORBIDDEN:
            if word in line:
                yield f"{name}:{number}: names {word}, a path of one machine"


def mapped_folders(text):
    """The folders of the first code block of the map: `name/  what it is`, two spaces a level."""
    block = re.search(r"^```\n(.*?)^```", text, re.S | re.M)
    path, out = [], []
    for line in block.group(1).splitlines() if block else []:
        found = re.match(r"( *)([\w.-]+)/(?:\s|$)", line)
        if found:
            path[len(found[1]) // 2 :] = [found[2]]
            out.append("/".join(path))
    return out


def check_map(files):
    name = "docs/architecture.md"
    if name not in files:
        return [f"{name} is missing"]
    mapped = mapped_folders(text_of(name))
    if not mapped:
        return [f"{name}: no map of folders found"]
    there = {str(parent) for f in files for parent in Path(f).parents}
    code = {f"{layer}/{f.split('/')[1]}" for layer in LAYERS for f in files
            if f.startswith(layer + "/") and f.count("/") > 1}
    gone = [f"{name}: {folder}/ does not exist" for folder in mapped if folder not in there]
    unknown = [f"{name}: {folder}/ is not on the map" for folder in sorted(code | set(LAYERS)) if folder not in mapped]
    return gone + unknown


def main():
    files = repository_files()
    problems = check_map(files)
    for name in files:
        text = text_of(name)
        if text is None:
            continue
        for check in (check_includes, check_links, check_size, check_words):
            problems += check(name, text)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
