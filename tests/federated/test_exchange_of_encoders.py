"""The exchange itself, without Flower: who gives what to whom, and what is refused with
which line.
"""

import json
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from small_sites import NAMES, learner, make_site, rows

from lifelong import SillyForest, export_encoder, load, save
from lifelong.exceptions import InputError, PersistenceError, UnsupportedError
from lifelong.federated import Hub, Reply, Request, Site
from lifelong.persistence.directory import Directory

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path):
    for number in range(3):
        make_site(tmp_path, number)
    return tmp_path


@pytest.fixture
def sites(folder):
    return [Site(name, folder / name) for name in NAMES]


def play(hub, sites, nodes=None):
    """One round with some sites, each under the number of its node."""
    nodes = list(range(len(sites))) if nodes is None else nodes
    hub.connected(nodes)
    for node, site in zip(nodes, sites, strict=True):
        hub.receive(node, site.answer(hub.request(node)))


def encoders_of(folder, name):
    return list(load(folder / name).encoders_)


def file_of(number=0, **parameters):
    """The content of an exported encoder."""
    path = Path(f"{number}.encoder")
    export_encoder(learner(number, **parameters), "digits", path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("scratch"))


def in_folder(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_after_two_rounds_every_site_has_every_encoder(folder, sites):
    hub = Hub()
    play(hub, sites)
    play(hub, sites)
    assert hub.refusals == []
    for name in NAMES:
        others = [f"{other}/digits" for other in NAMES if other != name]
        assert encoders_of(folder, name) == ["digits", *others]


def test_the_exchange_is_add_encoder_bit_for_bit(folder, sites):
    by_hand = load(folder / "ann")
    for name in NAMES[1:]:
        by_hand.add_encoder(load(folder / name).encoders_["digits"], name=f"{name}/digits")
    hub = Hub()
    play(hub, sites)
    play(hub, sites)
    X = rows(9)[0]
    assert np.array_equal(
        load(folder / "ann").predict_proba(X, task="digits"),
        by_hand.predict_proba(X, task="digits"),
    )


def test_nothing_is_sent_twice(sites):
    hub = Hub()
    play(hub, sites)
    play(hub, sites)
    for node, site in enumerate(sites):
        request = hub.request(node)
        assert request.encoders == {}
        assert site.answer(request).encoders == {}


def test_encoders_of_others_are_not_passed_on(folder, sites):
    play(hub := Hub(), sites)
    play(hub, sites)
    assert list(sites[0].answer(Request()).encoders) == ["ann/digits"]


def test_a_site_tells_no_name_that_the_hub_does_not_know(folder):
    secret = load(folder / "ann").add_encoder(learner(7).encoders_["digits"], name="bob/private")
    save(secret, folder / "ann")
    reply = Site("ann", folder / "ann").answer(Request(known=frozenset({"cem/digits"})))
    assert "private" not in repr((reply.has, reply.refused, list(reply.encoders)))


def test_a_site_that_joins_late_gets_everything_and_gives_its_own(folder, sites):
    hub = Hub()
    play(hub, sites[:2])
    play(hub, sites[:2])
    play(hub, sites)
    play(hub, sites)
    assert encoders_of(folder, "cem") == ["digits", "ann/digits", "bob/digits"]
    assert encoders_of(folder, "ann") == ["digits", "bob/digits", "cem/digits"]


def test_encoders_of_a_site_that_has_left_stay(folder, sites):
    hub = Hub()
    play(hub, sites[:1])
    play(hub, sites[1:], nodes=[1, 2])
    play(hub, sites[1:], nodes=[1, 2])
    assert encoders_of(folder, "cem") == ["digits", "ann/digits", "bob/digits"]


def test_a_site_that_comes_back_as_another_node_starts_where_it_was(sites):
    hub = Hub()
    play(hub, sites)
    play(hub, sites)
    hub.connected([10])
    reply = sites[0].answer(hub.request(10))
    assert reply.encoders == {}
    hub.receive(10, reply)
    assert hub.refusals == []
    assert hub.request(10).encoders == {}


def test_a_task_learnt_between_rounds_is_shared_in_the_next(folder, sites):
    hub = Hub()
    play(hub, sites)
    save(load(folder / "ann").partial_fit(*rows(5), task="letters"), folder / "ann")
    play(hub, sites)
    play(hub, sites)
    assert set(encoders_of(folder, "bob")) == {"digits", "ann/digits", "ann/letters", "cem/digits"}


def test_a_name_that_is_in_use_is_refused_until_its_owner_leaves(sites):
    hub = Hub()
    play(hub, sites)
    hub.receive(7, Reply("ann", {"ann/evil": file_of(8)}))
    assert hub.refusals == [
        "node 7: There is a site 'ann' already. Choose another name for this one."
    ]
    assert "ann/evil" not in hub.encoders
    hub.connected([1, 2, 7])
    hub.receive(7, Reply("ann", {"ann/more": file_of(8)}))
    assert "ann/more" in hub.encoders


def test_a_node_cannot_change_its_name(sites):
    hub = Hub()
    play(hub, sites)
    hub.receive(0, Reply("dan"))
    assert "now calls itself 'dan'" in hub.refusals[0]


WRONG = {
    "random bytes": lambda file: np.random.default_rng(0).bytes(1000),
    "nothing": lambda file: b"",
    "half a file": lambda file: file[: len(file) // 2],
    "a flipped bit": lambda file: file[:-9] + bytes([file[-9] ^ 4]) + file[-8:],
    "a newer format": lambda file: file.replace(b'\\"format\\":1', b'\\"format\\":9'),
    "a pickle": lambda file: b"\x80\x04cos\nsystem\n(S'true'\ntR.",
}


@pytest.mark.parametrize("how", WRONG)
def test_garbage_is_refused_with_one_line_and_the_others_go_on(how, folder, sites):
    hub = Hub()
    play(hub, sites[:2])
    before = dict(hub.encoders)
    hub.receive(9, Reply("eve", {"eve/digits": WRONG[how](file_of(5))}))
    assert hub.encoders == before
    [line] = hub.refusals
    assert line.startswith("site 'eve': ")
    assert "eve/digits" in line
    assert "\n" not in line
    play(hub, sites[:2])
    assert encoders_of(folder, "ann") == ["digits", "bob/digits"]


@pytest.mark.parametrize("how", WRONG)
def test_a_site_trusts_no_hub(how, folder, sites):
    before = in_folder(folder / "ann")
    reply = sites[0].answer(Request({"eve/digits": WRONG[how](file_of(5))}))
    assert list(reply.refused) == ["eve/digits"]
    assert "\n" not in reply.refused["eve/digits"]
    assert "/tmp" not in reply.refused["eve/digits"]
    assert in_folder(folder / "ann") == before


def test_one_bad_encoder_does_not_spoil_the_good_ones(folder, sites):
    reply = sites[0].answer(Request({"eve/a": b"garbage", "bob/digits": file_of(1), "eve/b": b""}))
    assert set(reply.refused) == {"eve/a", "eve/b"}
    assert encoders_of(folder, "ann") == ["digits", "bob/digits"]


def test_the_same_encoder_twice_is_refused_under_whatever_name(folder, sites):
    hub, file = Hub(), file_of(5)
    hub.receive(0, Reply("eve", {"eve/a": file, "eve/b": file}))
    hub.receive(0, Reply("eve", {"eve/a": file}))
    assert [line.partition(": ")[2] for line in hub.refusals] == [
        "Encoder 'eve/b' is the same as 'eve/a', which is here already.",
        "Encoder 'eve/a' came twice.",
    ]
    reply = sites[0].answer(Request({"eve/a": file, "dan/a": file}))
    assert list(reply.refused) == ["dan/a"]
    assert "has that encoder already; it is called 'eve/a'" in reply.refused["dan/a"]
    assert encoders_of(folder, "ann") == ["digits", "eve/a"]


def test_another_encoder_under_a_known_name_is_refused():
    hub = Hub()
    hub.receive(0, Reply("eve", {"eve/a": file_of(5)}))
    hub.receive(0, Reply("eve", {"eve/a": file_of(6)}))
    assert "came before with other content. The first one stays." in hub.refusals[0]
    assert hub.encoders["eve/a"].content == file_of(5)


def test_an_encoder_over_the_limit_is_refused_and_not_asked_for_again(folder):
    file = file_of(5)
    hub = Hub(max_bytes=len(file) - 1)
    hub.receive(0, Reply("eve", {"eve/a": file}))
    assert hub.refusals == [
        f"site 'eve': Encoder 'eve/a' has {len(file)} bytes, and max_bytes={len(file) - 1}."
    ]
    assert "eve/a" in hub.request(0).known
    reply = Site("ann", folder / "ann", max_bytes=len(file) - 1).answer(Request({"eve/a": file}))
    assert f"it has {len(file)} bytes, and max_bytes={len(file) - 1}" in reply.refused["eve/a"]


def test_a_flood_of_encoders_ends_at_the_limit():
    hub = Hub(max_encoders=2)
    hub.receive(0, Reply("eve", {f"eve/{number}": file_of(number) for number in range(4)}))
    assert list(hub.encoders) == ["eve/0", "eve/1"]
    assert hub.refusals == [
        "site 'eve': It sent 4 encoders at once, and max_encoders=2 per site. The others are not"
        " looked at."
    ]
    hub.receive(0, Reply("eve", {"eve/2": file_of(2)}))
    assert hub.refusals[1].endswith("Encoder 'eve/2' is too many: max_encoders=2 per site.")


def test_an_encoder_for_another_shape_leaves_the_learner_as_it_was(folder, sites):
    before = in_folder(folder / "ann")
    reply = sites[0].answer(Request({"eve/digits": file_of(5, shape=(4,))}))
    assert (
        "The encoder reads rows of shape (4,), and this SillyForest has (6,)."
        in reply.refused["eve/digits"]
    )
    assert in_folder(folder / "ann") == before


def test_what_a_site_has_refused_is_not_sent_again(sites):
    hub = Hub()
    hub.receive(9, Reply("eve", {"eve/digits": file_of(5, shape=(4,))}))
    play(hub, sites)
    hub.connected([0, 1, 2, 9])
    play(hub, sites)
    assert sum("did not take 'eve/digits'" in line for line in hub.refusals) == 3
    assert "eve/digits" not in hub.request(0).encoders


@pytest.mark.parametrize(
    "name", ["bob/digits", "digits", "eve", "", "/", "eve/\x1b[31m", "eve/" + "x" * 300, 3, None]
)
def test_a_site_can_only_give_encoders_that_bear_its_name(name):
    hub = Hub()
    hub.receive(0, Reply("eve", {name: b""}))
    assert hub.encoders == {}
    assert len(hub.refusals) == 1
    assert hub.refusals[0].isprintable()


@pytest.mark.parametrize("name", ["", "a/b", " a", "a\nb", "\x1b[31m", "x" * 300, None, 3])
def test_names_of_sites_are_plain_text(name, tmp_path):
    with pytest.raises(InputError, match="cannot name a site"):
        Site(name, tmp_path)
    hub = Hub()
    hub.receive(0, Reply(name))
    assert hub.sites == {}
    assert hub.refusals[0].isprintable()


def test_reasons_of_strangers_cannot_steer_a_terminal():
    hub = Hub()
    hub.receive(0, Reply("eve", refused={"ann/digits\x1b[2J": "because\x1b[31m\nroot# "}))
    assert hub.refusals[0].isprintable()


def test_the_name_of_an_own_encoder_is_refused(sites):
    reply = sites[0].answer(Request({"ann/other": file_of(5)}))
    assert reply.refused == {"ann/other": "It has the name of an encoder of this site."}


def test_a_folder_without_a_learner_is_one_clear_error(tmp_path):
    with pytest.raises(PersistenceError, match="There is no saved learner in .*nowhere"):
        Site("ann", tmp_path / "nowhere").answer(Request())
    assert not (tmp_path / "nowhere").exists()


def test_a_learner_without_encoders_cannot_take_part(tmp_path):
    from lifelong.references.forest import Forest

    save(Forest(random_state=0).partial_fit(*rows(0), task="digits"), tmp_path)
    with pytest.raises(UnsupportedError, match="SillyForest and SillyNetwork do"):
        Site("ann", tmp_path).answer(Request())


def test_a_learner_in_use_is_left_alone(folder, sites):
    with (
        Directory(folder / "ann").locked(),
        pytest.raises(PersistenceError, match="Another process is writing"),
    ):
        sites[0].answer(Request({"bob/digits": file_of(1)}))


def test_a_learner_with_a_store_finds_what_came_and_goes_on(tmp_path):
    stored = learner(0, store=tmp_path / "ann")
    assert Site("ann", tmp_path / "ann").answer(Request({"bob/digits": file_of(1)})).refused == {}
    stored.partial_fit(*rows(4), task="letters")
    again = learner(0).add_encoder(learner(1).encoders_["digits"], name="bob/digits")
    again.partial_fit(*rows(4), task="letters")
    X = rows(9)[0]
    assert list(stored.encoders_) == ["digits", "bob/digits", "letters"]
    assert np.array_equal(
        stored.predict_proba(X, task="letters"), again.predict_proba(X, task="letters")
    )


def test_a_task_is_shared_under_the_name_it_has_now(tmp_path):
    save(learner(0).rename("digits", 3), tmp_path)
    assert list(Site("ann", tmp_path).answer(Request()).encoders) == ["ann/3"]
    save(load(tmp_path).partial_fit(*rows(4), task="3"), tmp_path)
    with pytest.raises(InputError, match="Rename one of them first"):
        Site("ann", tmp_path).answer(Request())


def test_a_spent_budget_refuses_with_a_reason(tmp_path):
    save(learner(0, budget=1), tmp_path)
    reply = Site("ann", tmp_path).answer(Request({"bob/digits": file_of(1)}))
    assert reply.refused["bob/digits"].startswith(
        "The budget of 1 encoders is spent. Nothing was added."
    )


def test_no_number_of_a_row_and_no_label_is_in_a_reply(folder):
    X, _ = rows(3)
    labels = np.array(["label-of-a-patient", "another-label", "third-label"])[np.arange(len(X)) % 3]
    save(SillyForest(2, random_state=0).partial_fit(X, labels, task="digits"), folder / "ann")
    reply = Site("ann", folder / "ann").answer(Request())
    content = reply.encoders["ann/digits"]
    assert not any(
        number.astype(kind).tobytes() in content for number in X.ravel() for kind in ("<f4", "<f8")
    )
    assert b"label" not in content.replace(b"labels", b"")
    structure = json.loads(
        json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"][
            "lifelong"
        ]
    )
    assert set(structure) == {"format", "written_by", "encoder", "sha256"}


def test_the_example_gains_and_finds_no_row(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", ["federated_speakers", "--via", "nothing", "--smoke"])
    runpy.run_path(str(EXAMPLES / "federated_speakers.py"), run_name="__main__")
    out = capsys.readouterr().out
    mean = next(line for line in out.splitlines() if line.startswith("mean"))
    assert float(mean.split()[-1]) > 0
    assert "marked rows: 0 of 225 pairs" in out
    assert "225 if the rows are put in" in out


@pytest.mark.parametrize("kind", ["<f4", "<f8", ">f4"])
@pytest.mark.parametrize("offset", [0, 3])
def test_the_search_finds_rows_wherever_they_are(kind, offset, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from federated_wiretap import numbers_found

    X = rows(0, n=2)[0]
    noise = np.random.default_rng(0).bytes(10_000)
    assert numbers_found(X, noise) == 0
    assert numbers_found(X, noise + b"x" * offset + X.astype(kind).tobytes() + noise) == 10
    assert numbers_found(X, noise + X[1, 3:5].astype(kind).tobytes() + noise) == 1


def test_a_site_folder_can_be_moved(folder, sites):
    """Nothing in the folder says where it is."""
    shutil.move(folder / "ann", folder / "moved")
    assert list(Site("ann", folder / "moved").answer(Request()).encoders) == ["ann/digits"]


WRONGLY_TYPED = {
    "no reply": "hello",
    "names that are numbers": Reply("eve", has=frozenset({3})),
    "names in a text": Reply("eve", has="eve/digits"),
    "reasons that are numbers": Reply("eve", refused={"bob/digits": 3}),
    "a list of refusals": Reply("eve", refused=["bob/digits"]),
    "encoders that are text": Reply("eve", {"eve/digits": "file"}),
    "a list of encoders": Reply("eve", [b"file"]),
    "a site that is a number": Reply(3),
}


@pytest.mark.parametrize("reply", WRONGLY_TYPED.values(), ids=WRONGLY_TYPED)
def test_a_wrongly_typed_reply_is_refused_with_one_line(reply):
    hub = Hub()
    hub.receive(7, reply)
    [line] = hub.refusals
    assert line.startswith("node 7: ")
    assert hub.encoders == {}


def test_a_site_that_floods_the_hub_does_not_fill_its_memory():
    hub = Hub()
    for turn in range(50):
        names = [f"eve/{turn}-{number}" for number in range(100)]
        claims = frozenset(f"bob/{turn}-{number}" for number in range(100))
        refused = {f"dan/{turn}-{number}": "no" for number in range(100)}
        hub.receive(1, Reply("eve", dict.fromkeys(names, b"rubbish"), claims, refused))
    assert hub.n_refusals == 10_000
    assert len(hub.refusals) == 1000
    assert len(hub.request(1).known) <= 1000
    assert len(hub._settled[1]) == 0
