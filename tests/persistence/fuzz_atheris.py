"""Coverage-guided fuzzing of the read path, for ``make soak``; atheris is in the extra ``soak``.

The first byte of an input chooses what the rest is: a file of arrays, a manifest without its seal,
or an encoder's file whose checksum fits its name. Arguments: a folder of inputs, then libFuzzer's.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["lifelong.persistence"]):
    from lifelong import load, save
    from lifelong.exceptions import PersistenceError
    from lifelong.persistence.arrays import unpack

from mutations import exchange, read, seal
from small import forest, taught

FOLDER = Path(tempfile.mkdtemp())
save(taught(forest(), 1), FOLDER)
INTACT = read(FOLDER)
ENCODER = next(name for name in INTACT if name.startswith("encoder"))
LAST = dict(INTACT)


def one_input(data: bytes) -> None:
    """Nothing but a learner or a PersistenceError may come of it."""
    which, content = data[:1], data[1:]
    try:
        if which < b"\x80":
            unpack(bytearray(content))
        elif which < b"\xc0":
            _load({**INTACT, "manifest.json": seal(content)})
        else:
            _load(exchange(dict(INTACT), ENCODER, content))
    except PersistenceError:
        pass


def _load(files: dict[str, bytes]) -> None:
    for name in set(LAST) - set(files):
        (FOLDER / name).unlink()
    for name, content in files.items():
        if LAST.get(name) != content:
            (FOLDER / name).write_bytes(content)
    LAST.clear()
    LAST.update(files)
    load(FOLDER)


def main() -> None:
    """Start from what a saved learner looks like, and from what is in the folder already."""
    corpus = Path(sys.argv[1])
    manifest = INTACT["manifest.json"].rsplit(b",\n", 1)[0] + b"}"
    for number, seed in enumerate(
        [b"\x00" + INTACT[ENCODER], b"\x90" + manifest, b"\xd0" + INTACT[ENCODER]]
    ):
        (corpus / f"seed-{number}").write_bytes(seed)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
