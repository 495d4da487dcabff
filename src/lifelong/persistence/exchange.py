"""An encoder on its way to another learner: one file that is complete in itself and holds no row.

The file is one of arrays, like all of ours, whose structure is ``{"format", "written_by",
"encoder", "sha256"}``. The checksum is that of the file as it would be without it.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lifelong._extras import require
from lifelong.encoders.base import FittedEncoder
from lifelong.encoders.forest import FittedForest
from lifelong.exceptions import PersistenceError, UnknownTaskError, UnsupportedError
from lifelong.learners.knowledge import Knowledge
from lifelong.learners.silly import Silly
from lifelong.persistence.arrays import pack, unpack
from lifelong.persistence.checking import Arrays, Name, expect, keys
from lifelong.persistence.directory import Directory, checksum
from lifelong.persistence.encoders import (
    IN_SHAPE,
    MAX_ROW,
    encoder_shape,
    pack_encoder,
    unpack_encoder,
    word_of,
)
from lifelong.persistence.identity import identity
from lifelong.persistence.kinds import unpacked
from lifelong.persistence.manifest import FORMAT, check_format, versions
from lifelong.persistence.text import Json, Unfit, explained

MAX_BYTES = 2**30
Shape = tuple[int, ...]
_MADE_BY = {
    "ForestEncoder": "forest",
    "NetworkEncoder": "network",
    "PretrainedEncoder": "pretrained",
}
_WORDS = {"forest": "forest", "network": "network", "pretrained": "pretrained network"}


class ImportedEncoder(NamedTuple):
    """An encoder from elsewhere.

    Attributes
    ----------
    encoder : FittedEncoder
    in_shape : tuple
        Shape of the rows that it reads.
    checksum : str, optional
        Of what the encoder does: the same for one that does the same, in whatever file. None for a
        class of the user's own.
    """

    encoder: FittedEncoder
    in_shape: Shape
    checksum: str | None


def export_encoder(learner: Silly, task: Name, file: str | Path) -> None:
    """Write the encoder of a task to one file, for another learner's ``add_encoder``, without rows.

    A network can also go to other programs: a name that ends in ``.onnx`` makes an ONNX graph, from
    rows as they are (standardisation is in the graph) to their representation. That needs ``pip
    install 'lifelong[onnx]'``.

    Parameters
    ----------
    learner : SillyForest, SillyNetwork or Silly
    task : str or int
        A task whose encoder is meant, or the name of an encoder in ``encoders_``.
    file : path
        Written whole or not at all.

    Raises
    ------
    UnknownTaskError
        If there is no such encoder.
    PersistenceError
        If the encoder is of a class that no file can hold, or if the disk fails.

    Examples
    --------
    >>> import tempfile
    >>> from lifelong import SillyForest
    >>> labels = ["no", "yes"] * 5
    >>> lyon = SillyForest(random_state=0).partial_fit([[0.0], [1.0]] * 5, labels, task="Lyon")
    >>> turin = SillyForest(random_state=0).partial_fit([[0.0], [3.0]] * 5, labels, task="Turin")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_encoder(lyon, "Lyon", f"{folder}/lyon.encoder")
    ...     list(turin.add_encoder(f"{folder}/lyon.encoder", name="Lyon").encoders_)
    ['Turin', 'Lyon']
    """
    encoder, in_shape = _encoder_of(learner, task)
    path = Path(file)
    with explained(f"The encoder of {task!r} cannot be exported"):
        if path.suffix.lower() == ".onnx":
            pieces: list[bytes | memoryview] = [_onnx(encoder, in_shape)]
        else:
            pieces = _sealed(encoder, in_shape)
    Directory(path.parent).put(path.name, pieces)


def import_encoder(
    source: "str | Path | FittedEncoder | ImportedEncoder",
    learner: Silly | None = None,
    *,
    max_bytes: int = MAX_BYTES,
) -> ImportedEncoder:
    """The encoder of a file, every byte checked; ``learner.add_encoder(file)`` does this and gives
    it to the learner.

    Whatever is wrong with the file, the outcome is a
    :class:`~lifelong.exceptions.PersistenceError`.

    Parameters
    ----------
    source : path, or an encoder that is in memory already
    learner : SillyForest, SillyNetwork or Silly, optional
        It must be able to use the encoder: rows of the same shape, the same kind of encoder, and
        not there yet. Without one the file alone is checked.
    max_bytes : int, default 1 GiB
        Refuse larger files before reading them. Memory that reading takes is bounded by a small
        multiple of the file.

    Returns
    -------
    ImportedEncoder
        The encoder, the shape of its rows, and a checksum that is the same for the same encoder.

    Raises
    ------
    PersistenceError
        Whatever is wrong with the file, or why the learner cannot use it.
    """
    known = None
    if learner is not None:
        known = learner._known()
    return encoder_for(source, learner, known, max_bytes)


def encoder_for(
    source: Any, learner: Silly | None, known: Knowledge | None, max_bytes: int
) -> ImportedEncoder:
    """The same, for a learner that knows so much."""
    if isinstance(source, str | Path):
        found = _read(Path(source), learner, max_bytes)
    elif isinstance(source, ImportedEncoder):
        found = source
    else:
        found = _from_memory(source, known)
    if learner is not None:
        _check_fits(found, learner, known)
    return found


def _encoder_of(learner: Any, task: Name) -> tuple[FittedEncoder, Shape]:
    if not isinstance(learner, Silly):
        raise UnsupportedError(
            f"{type(learner).__name__} has no encoders to export. SillyForest and SillyNetwork do."
        )
    known = learner._known()
    encoders = _encoders_in(known)
    address = task
    if known is not None and task in known.tasks:
        address = known.address(task)
    if known is None or address not in encoders:
        names = ", ".join(map(repr, encoders)) or "none"
        raise UnknownTaskError(f"There is no encoder of {task!r}. Encoders: {names}.")
    return encoders[address], known.in_shape


def _encoders_in(known: Knowledge | None) -> Mapping[Name, FittedEncoder]:
    if known is None:
        return {}
    return known.encoders


def _sealed(encoder: FittedEncoder, in_shape: Shape) -> list[bytes | memoryview]:
    arrays = Arrays()
    node: dict[str, Json] = {
        "format": FORMAT,
        "written_by": versions(),
        "encoder": pack_encoder(encoder, in_shape, arrays),
    }
    return pack(_in_order(arrays), {**node, "sha256": _seal(node, arrays)})


def _seal(node: dict[str, Json], arrays: Arrays) -> str:
    return checksum(pack(_in_order(arrays), node))


def _in_order(arrays: Arrays) -> Arrays:
    return Arrays(sorted(arrays.items()))


def _onnx(encoder: Any, in_shape: Shape) -> bytes:
    if word_of(encoder) != "network":
        raise Unfit(f"ONNX is for networks, and this is a {_word(encoder)}")
    require("onnx", extra="onnx", for_what="Exporting to ONNX")
    from lifelong.persistence.onnx_graph import onnx_model

    return onnx_model(encoder, in_shape)


def _read(path: Path, learner: Silly | None, max_bytes: int) -> ImportedEncoder:
    with explained(f"{path} holds no encoder that can be used"):
        if path.suffix.lower() == ".onnx":
            raise Unfit(
                "ONNX files are for other programs; export the encoder once more, without .onnx in"
                " its name"
            )
        content = _content(path, max_bytes)
        node, found = unpack(content)
        arrays = Arrays(found)
        expect(isinstance(node, dict), "it", "has no structure")
        check_format(node, path)
        keys(node, {"format", "written_by", "encoder", "sha256"}, "it")
        if node.pop("sha256") != _seal(node, arrays):
            raise Unfit("its checksum is wrong, so it has been changed since it was exported")
        in_shape = _in_shape(node["encoder"])
        encoder = unpack_encoder(node["encoder"], arrays, in_shape, learner)
        arrays.nothing_left()
        encoder_shape(encoder, in_shape)
        return ImportedEncoder(encoder, in_shape, _identity(encoder, in_shape))


def _content(path: Path, max_bytes: int) -> bytearray:
    try:
        where = path.resolve()
        size = where.stat().st_size
    except OSError as error:
        raise Unfit(f"it cannot be read ({error.strerror})") from None
    if size > max_bytes:
        raise Unfit(f"it has {size} bytes, and max_bytes={max_bytes}")
    return Directory(where.parent).read(where.name, size)


def _in_shape(node: Json) -> Shape:
    expect(isinstance(node, dict) and "in_shape" in node, "the encoder", "has no in_shape")
    in_shape: Shape = unpacked(IN_SHAPE, node["in_shape"], "in_shape")
    expect(
        len(in_shape) in (1, 3) and math.prod(in_shape) <= MAX_ROW,
        "in_shape",
        "is neither flat rows nor images",
    )
    return in_shape


def _from_memory(encoder: Any, known: Knowledge | None) -> ImportedEncoder:
    if not callable(getattr(encoder, "encode", None)):
        raise PersistenceError(
            f"{type(encoder).__name__} is no encoder that has been learnt, and no path of a file."
        )
    of_learner = None
    if known is not None:
        of_learner = known.in_shape
    in_shape: Shape | None = getattr(encoder, "in_shape", of_learner)
    if type(encoder) is FittedForest:  # which reads images as their pixels
        n = int(encoder.trees[0].n_features)
        in_shape = (n,)
        if of_learner is not None and math.prod(of_learner) == n:
            in_shape = of_learner
    if in_shape is None:
        raise PersistenceError(
            f"{type(encoder).__name__} does not say what rows it reads. Learn a task first."
        )
    with explained(f"This {type(encoder).__name__} is of no use to anybody"):
        found = _identity(encoder, tuple(in_shape))
    return ImportedEncoder(encoder, tuple(in_shape), found)


def _identity(encoder: FittedEncoder, in_shape: Shape) -> str | None:
    """What the encoder does, as a checksum. One that tells no two rows apart is refused."""
    if type(encoder) is FittedForest:
        # Every tree votes, and one without a split says the same of every row: many of them would
        # outweigh the others.
        split = all(len(leaves) > 1 for leaves in encoder.leaf_of_node)
        expect(split, "the forest", "has a tree without a split, which tells no two rows apart")
    return identity(encoder, in_shape)


def _check_fits(found: ImportedEncoder, learner: Silly, known: Knowledge | None) -> None:
    owner = type(learner).__name__
    in_shape = found.in_shape
    if known is not None:
        in_shape = known.in_shape
    if found.in_shape != in_shape:
        raise PersistenceError(
            f"The encoder reads rows of shape {found.in_shape}, and this {owner} has {in_shape}.",
            see="exchange",
        )
    wanted = _MADE_BY.get(type(learner._encoder()).__name__)
    if wanted is not None and word_of(found.encoder) != wanted:
        raise PersistenceError(
            f"The encoder is a {_word(found.encoder)}, and this {owner} has {_WORDS[wanted]}s.",
            see="exchange",
        )
    encoders = _encoders_in(known)
    for name in encoders:
        if found.checksum is None:
            same = encoders[name] is found.encoder
        else:
            same = identity(encoders[name], in_shape) == found.checksum
        if same:
            raise PersistenceError(f"This {owner} has that encoder already; it is called {name!r}.")


def _word(encoder: FittedEncoder) -> str:
    word = word_of(encoder)
    if word is None:
        return type(encoder).__name__
    return _WORDS[word]
