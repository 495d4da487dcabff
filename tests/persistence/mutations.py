"""Damage and malice: saved learners changed in every way that came to mind, checksums made to fit
or not.
"""

import hashlib
import json
import random
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

Files = dict[str, bytes]
REFERENCE = re.compile(r"(encoder|channel|rows|network|values)-[0-9a-f]{64}\.safetensors")
ODD: list[Any] = [
    None, True, False,
    0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**63, -(2**63), 2**64, 10**30, 10**400,
    0.5, -0.0, 1e308, 1e-320,
    "", "x", "task-0", "task-1", "../../etc/passwd", "/etc/passwd", "a\0b", "\ud800", "F", "C",
    "os.system",
    [], {}, [[]], [0], [-1], [1, 1], [2**40, 2**40], [None], ["x", 5], {"kind": "leaf"}, {"a": 1},
]  # fmt: skip
DTYPES = [
    "BOOL",
    "U8",
    "U16",
    "U32",
    "U64",
    "I8",
    "I16",
    "I32",
    "I64",
    "F16",
    "BF16",
    "F32",
    "F64",
    "C64",
    "X",
    "",
    5,
]


def read(folder: Path) -> Files:
    """All files of a saved learner."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


def seal(node: Any) -> bytes:
    """A manifest whose checksum is right."""
    text = node if isinstance(node, bytes) else json.dumps(node).encode()
    body = text.rstrip().removesuffix(b"}")
    return body + b',\n"sha256":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def unseal(manifest: bytes) -> Any:
    node = json.loads(manifest)
    del node["sha256"]
    return node


def mutate(files: Files, chance: random.Random) -> Files:
    """One more variant."""
    ways = [
        bytes_of_some_file,
        manifest_node,
        manifest_text,
        header_of_some_file,
        structure_of_some_file,
        numbers,
    ]
    return chance.choices(ways, weights=[1, 4, 1, 2, 2, 3])[0](dict(files), chance)


# With wrong checksums


def bytes_of_some_file(files: Files, chance: random.Random) -> Files:
    name = chance.choice(sorted(files))
    files[name] = damaged(files[name], chance)
    if chance.random() < 0.1:
        del files[chance.choice(sorted(files))]
    return files


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Bits flipped, cut, doubled, or replaced."""
    way, at = chance.randrange(5), chance.randrange(len(content) + 1)
    if way == 0 and content:
        spoiled = bytearray(content)
        for _ in range(chance.choice([1, 1, 1, 8])):
            spoiled[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        return bytes(spoiled)
    if way == 1:
        return content[:at]
    if way == 2:
        return content[:at] + chance.randbytes(chance.choice([1, 8, 100])) + content[at:]
    if way == 3:
        return content[:at] + chance.randbytes(16) + content[at + 16 :]
    return content + content[at:]


# With right checksums: what somebody with bad intentions would do


def manifest_node(files: Files, chance: random.Random) -> Files:
    node = unseal(files["manifest.json"])
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        change_somewhere(node, chance)
    files["manifest.json"] = seal(node)
    return files


def manifest_text(files: Files, chance: random.Random) -> Files:
    text = json.dumps(unseal(files["manifest.json"]))
    way = chance.randrange(5)
    if way == 0:  # a key twice
        text = text.replace("{", '{"format":1,', 1)
    elif way == 1:
        number = chance.choice(re.findall(r"[ \[]\d+[,\]]", text))
        text = text.replace(
            number,
            number[0] + chance.choice(["NaN", "Infinity", "-Infinity", "1e999"]) + number[-1],
            1,
        )
    elif way == 2:
        text = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    elif way == 3:
        text = text.replace('"seed": ', '"seed": ' + "9" * 5000, 1)
    else:
        text = damaged(text.encode(), chance).decode("latin-1")
    files["manifest.json"] = seal(text.encode("utf-8", "replace"))
    return files


def change_somewhere(node: Any, chance: random.Random) -> None:
    """Replace, remove, add, double or exchange something in a JSON value."""
    places = list(everywhere(node))
    holder, key = chance.choice(places)
    way = chance.randrange(7)
    if way <= 2:
        holder[key] = odd(chance)
    elif way == 3:
        del holder[key]
    elif way == 4 and isinstance(holder, list):
        holder.insert(key, deepcopy(chance.choice([holder[key], odd(chance)])))
    elif way == 4:
        holder[chance.choice(["extra", "kind", "files", "__class__", ""])] = odd(chance)
    elif way == 5:
        other, its = chance.choice(places)
        if its in other if isinstance(other, dict) else its < len(other):
            holder[key] = deepcopy(other[its])
    elif isinstance(holder[key], int) and not isinstance(holder[key], bool):
        holder[key] += chance.choice([-1, 1, 1000, 2**31])
    else:
        holder[key] = odd(chance)


def odd(chance: random.Random) -> Any:
    """A value of its own that is probably not welcome."""
    return deepcopy(chance.choice(ODD))


def everywhere(node: Any):
    pairs = (
        list(node.items())
        if isinstance(node, dict)
        else list(enumerate(node))
        if isinstance(node, list)
        else []
    )
    for key, value in pairs:
        yield node, key
        yield from everywhere(value)


def header_of_some_file(files: Files, chance: random.Random) -> Files:
    """Types, shapes, offsets and names of arrays."""
    name = chance.choice([name for name in sorted(files) if REFERENCE.fullmatch(name)])
    header, data = split(files[name])
    arrays = [key for key in header if key != "__metadata__"]
    entry = header[chance.choice(arrays)] if arrays else {}
    way = chance.randrange(7)
    if way == 0:
        entry["dtype"] = chance.choice(DTYPES)
    elif way == 1 and entry.get("shape"):
        entry["shape"][chance.randrange(len(entry["shape"]))] = chance.choice(
            [0, -1, 1, 2**31, 2**62, 10**30, 0.5, None]
        )
    elif way == 2:
        entry["shape"] = chance.choice(
            [[], [0], [1], [-1, -1], list(reversed(entry.get("shape", []))), [2**32, 2**32]]
        )
    elif way == 3 and entry:
        entry["data_offsets"][chance.randrange(2)] = chance.choice(
            [-8, 0, 1, 3, 8, 2**62, len(data), len(data) + 8]
        )
    elif way == 4 and arrays:
        header[chance.choice([*arrays, "extra", "../x", "value"])] = header.pop(
            chance.choice(arrays)
        )
    elif way == 5:
        change_somewhere(header, chance)
    elif arrays:
        data += bytes(8)
    return exchange(files, name, join(header, data, chance))


def structure_of_some_file(files: Files, chance: random.Random) -> Files:
    """What the arrays of a file mean."""
    name = chance.choice([name for name in sorted(files) if REFERENCE.fullmatch(name)])
    header, data = split(files[name])
    structure = [json.loads(header["__metadata__"]["lifelong"])]
    change_somewhere(structure, chance)
    header["__metadata__"]["lifelong"] = json.dumps(structure[0] if structure else None)
    return exchange(files, name, join(header, data))


def numbers(files: Files, chance: random.Random) -> Files:
    """The arrays themselves: random bytes, all ones, NaN, shuffled, or one number out of range."""
    name = chance.choice([name for name in sorted(files) if REFERENCE.fullmatch(name)])
    header, data = split(files[name])
    spans = [entry["data_offsets"] for key, entry in header.items() if key != "__metadata__"]
    start, stop = chance.choice(spans) if spans else (0, 0)
    part = bytearray(data[start:stop])
    way = chance.randrange(5)
    if way == 0:
        part = bytearray(chance.randbytes(len(part)))
    elif way == 1:
        part = bytearray(b"\xff" * len(part))
    elif way == 2 and len(part) >= 8:
        at = chance.randrange(len(part) // 8) * 8
        part[at : at + 8] = chance.choice(
            [bytes(8), b"\xff" * 8, b"\x00\x00\xc0\x7f" * 2, (2**31).to_bytes(8, "little")]
        )
    elif way == 3 and len(part) >= 4:
        at = chance.randrange(len(part) // 4) * 4
        part[at : at + 4] = chance.choice([0, 1, 2, 5, 1000, 2**31 - 1]).to_bytes(4, "little")
    elif part:
        part[chance.randrange(len(part))] ^= 1 << chance.randrange(8)
    return exchange(files, name, join(header, data[:start] + bytes(part) + data[stop:]))


def split(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join(header: Any, data: bytes, chance: random.Random | None = None) -> bytes:
    text = json.dumps(header).encode()
    if chance is not None and chance.random() < 0.05:
        text = text.replace(b"{", b'{"__metadata__":{},', 1)  # a key twice
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def exchange(files: Files, name: str, content: bytes) -> Files:
    """Put a changed file in the place of another: named by its own checksum, and referred to by the
    manifest.
    """
    new = f"{name.split('-')[0]}-{hashlib.sha256(content).hexdigest()}.safetensors"
    old = json.dumps([name, len(files[name])])
    manifest = json.dumps(unseal(files["manifest.json"])).replace(
        old, json.dumps([new, len(content)])
    )
    return {
        **{key: value for key, value in files.items() if key != name},
        new: content,
        "manifest.json": seal(manifest.encode()),
    }
