"""Files from strangers: the right encoder, or one PersistenceError; nothing else ever."""

import json
import os
import random
import tracemalloc

import numpy as np
import pytest
from fuzzing import nothing_else_touched
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import DTYPES, change_somewhere, damaged, join, split
from small import QUICK, forest, network, rows, taught

from lifelong import SillyNetwork, export_encoder, import_encoder
from lifelong.exceptions import InputError, PersistenceError
from lifelong.persistence.arrays import pack, unpack
from lifelong.persistence.checking import Arrays
from lifelong.persistence.exchange import _in_order, _seal
from lifelong.persistence.text import Unfit


def images():
    return SillyNetwork("cnn", width=0.05, layer="middle", recipe=QUICK, random_state=0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, make, shape in (
        ("forest", forest, (4,)),
        ("network", network, (4,)),
        ("images", images, (2, 8, 8)),
    ):
        export_encoder(taught(make(), 1, shape), "task-0", folder / name)
        import_encoder(
            folder / name
        )  # torch's own modules are imported: that is code, but not the file's
    return Files({path.name: path.read_bytes() for path in folder.iterdir()})


class Files(dict):
    """Contents by name."""

    def __repr__(self):
        return "files"  # hypothesis would print them all


def resealed(content):
    """The same file with a checksum that fits, as far as that can be had."""
    try:
        node, found = unpack(bytearray(content))
        del node["sha256"]
        arrays = Arrays(found)
        return b"".join(
            map(bytes, pack(_in_order(arrays), {**node, "sha256": _seal(node, arrays)}))
        )
    except (Unfit, KeyError, TypeError, AttributeError):
        return content


def mutated(content, chance):
    way = chance.randrange(6)
    if way == 0:
        return damaged(content, chance)
    header, data = split(content)
    arrays = [key for key in header if key != "__metadata__"]
    if way == 1:
        entry = header[chance.choice(arrays)]
        entry[chance.choice(["dtype", "shape", "data_offsets"])] = chance.choice(
            [*DTYPES, [2**40, 2**40], [-1], [0, 8]]
        )
    elif way <= 3:
        structure = [json.loads(header["__metadata__"]["lifelong"])]
        for _ in range(chance.choice([1, 1, 3])):
            change_somewhere(structure, chance)
        header["__metadata__"]["lifelong"] = json.dumps(structure[0] if structure else None)
    elif way == 4:
        start, stop = header[chance.choice(arrays)]["data_offsets"]
        spoiled = bytearray(data)
        for _ in range(chance.choice([1, 10])):
            at = chance.randrange(start, max(stop, start + 1))
            spoiled[at : at + 4] = chance.choice(
                [b"\xff" * 4, b"\0\0\xc0\x7f", b"\0\0\x80\x7f", chance.randbytes(4)]
            )
        data = bytes(spoiled[: len(data)])
    else:
        header[chance.choice(["extra", *arrays])] = header.pop(chance.choice(arrays))
    return (
        resealed(join(header, data, chance))
        if chance.random() < 0.9
        else join(header, data, chance)
    )


@settings(
    max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(number=st.integers(0, 10**9), kind=st.sampled_from(["forest", "network", "images"]))
def test_mutated_files_give_an_encoder_that_works_or_one_error(
    files, tmp_path_factory, number, kind
):
    folder = tmp_path_factory.mktemp("mutated")
    content = mutated(files[kind], random.Random(number))
    (folder / "file").write_bytes(content)
    measured = number % 4 == 0
    if measured:
        tracemalloc.start()
    try:
        with nothing_else_touched(folder):
            found = import_encoder(folder / "file")
    except PersistenceError:
        return
    finally:
        if measured:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= 2 * len(content) + 4_000_000
        (folder / "file").unlink()
    with np.errstate(all="ignore"):
        Z = found.encoder.encode(rows(3, n=5, shape=found.in_shape)[0])
    assert (Z.ndim, len(Z)) == (2, 5)


def test_mutations_are_both_refused_and_accepted(files, tmp_path):
    """The test above would be blind if every mutation were refused, or none."""
    outcomes = set()
    for number in range(60):
        (tmp_path / "file").write_bytes(mutated(files["forest"], random.Random(number)))
        try:
            import_encoder(tmp_path / "file")
            outcomes.add("accepted")
        except PersistenceError as error:
            outcomes.add("checksum" if "checksum" in str(error) else "refused")
    assert outcomes == {"accepted", "refused", "checksum"}


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_refused(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(PersistenceError):
        import_encoder(tmp_path / "file")


def test_every_flipped_bit_is_noticed(files, tmp_path):
    content = files["forest"]
    for number in range(60):
        chance = random.Random(number)
        spoiled = bytearray(content)
        spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
        (tmp_path / "file").write_bytes(spoiled)
        with pytest.raises(PersistenceError):
            import_encoder(tmp_path / "file")


def test_a_file_larger_than_allowed_is_not_read(files, tmp_path):
    (tmp_path / "file").write_bytes(files["forest"])
    size = len(files["forest"])
    import_encoder(tmp_path / "file", max_bytes=size)
    with pytest.raises(PersistenceError, match=f"it has {size} bytes, and max_bytes={size - 1}"):
        forest().add_encoder(tmp_path / "file", max_bytes=size - 1)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**33)  # takes no room on the disk
    with pytest.raises(PersistenceError, match="max_bytes"):
        import_encoder(tmp_path / "huge")


def test_what_is_no_plain_file_is_refused(files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, what in {
        "pipe": "not a plain file",
        "missing": "cannot be read",
        "a\0b": "null",
        ".": "plain",
    }.items():
        with pytest.raises(PersistenceError, match=what):
            import_encoder(tmp_path / name)
    (tmp_path / "file").write_bytes(files["forest"])
    (tmp_path / "link").symlink_to(tmp_path / "file")  # one's own link to a file is fine
    import_encoder(tmp_path / "link")


def changed(content, change):
    header, data = split(content)
    structure = json.loads(header["__metadata__"]["lifelong"])
    change(structure)
    header["__metadata__"]["lifelong"] = json.dumps(structure)
    return resealed(join(header, data))


def layers(structure):
    return structure["encoder"]["network"]["body"]["sequence"]


def first_branch(structure):
    return layers(structure)[-1]["beside"][0]["sequence"]


POOLS = {"beside": [{"average-pool": [40000]}, {"identity": []}]}
BRANCHES = {"beside": [{"identity": []}] * 60}


@pytest.mark.parametrize(
    ("kind", "change", "what"),
    [
        ("forest", lambda s: s.update(format=2),
         r"format 2; .* reads formats up to 1. Run: pip install 'lifelong>="),
        ("forest", lambda s: s.update(extra=1), "unknown key 'extra'"),
        ("forest", lambda s: s["encoder"].update(in_shape=[5]), "reads rows of 4 numbers, not 5"),
        ("forest", lambda s: s["encoder"].update(in_shape=[2**31, 2**31, 2**31]),
         "neither flat rows nor images"),
        ("forest", lambda s: s["encoder"].update(kind="pickle"), "has no kind"),
        ("network", lambda s: s["encoder"].update(kind="forest"), "lacks forest"),
        ("images", lambda s: layers(s)[0]["convolution"].__setitem__(4, [60000] * 2), "too large"),
        ("images", lambda s: first_branch(s)[0].update({"max-pool": [40000]}), "too large"),
        ("images", lambda s: layers(s).append({"eval": ["1"]}), "unknown"),
        ("images", lambda s: layers(s).append({"beside": []}), "are none"),
        ("images", lambda s: first_branch(s).__setitem__(0, POOLS), "too large"),
        ("images", lambda s: layers(s).extend([BRANCHES] * 3), "too large"),
    ],
)  # fmt: skip
def test_a_file_that_makes_no_sense_is_refused_with_a_reason(kind, change, what, files, tmp_path):
    (tmp_path / "file").write_bytes(changed(files[kind], change))
    with pytest.raises(PersistenceError, match=what):
        import_encoder(tmp_path / "file")


def test_weights_that_overflow_change_nothing(files, tmp_path):
    header, data = split(files["network"])
    start, stop = header["network.body.1.weight"]["data_offsets"]
    huge = np.full((stop - start) // 4, 3e38, dtype=np.float32).tobytes()
    (tmp_path / "file").write_bytes(resealed(join(header, data[:start] + huge + data[stop:])))
    learner = taught(network(), 2)
    before = dict(vars(learner))
    with pytest.raises(InputError, match="NaN or infinity"):
        learner.add_encoder(tmp_path / "file", name="evil")
    assert vars(learner) == before
