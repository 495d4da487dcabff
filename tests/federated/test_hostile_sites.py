"""Sites, and a hub, that replay, flood or lie: refused or bounded, and the others go on."""

from pathlib import Path

import numpy as np
import pytest
from small_sites import NAMES, learner, make_site, rows

from lifelong import export_encoder, load
from lifelong.federated import Hub, Reply, Request, Site
from lifelong.federated.hub import MAX_REFUSALS
from lifelong.persistence.arrays import pack, unpack
from lifelong.persistence.checking import Arrays
from lifelong.persistence.exchange import _in_order, _seal


@pytest.fixture
def sites(tmp_path):
    for number in range(3):
        make_site(tmp_path, number)
    return [Site(name, tmp_path / name) for name in NAMES]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Exported encoders of learners 0 to 11."""
    folder = tmp_path_factory.mktemp("files")
    for number in range(12):
        export_encoder(learner(number), "digits", folder / str(number))
    return [(folder / str(number)).read_bytes() for number in range(12)]


def resealed(content, change):
    """The file after a change of its structure and arrays, with a checksum that fits."""
    node, found = unpack(bytearray(content))
    del node["sha256"]
    change(node, found)
    arrays = Arrays(found)
    return b"".join(map(bytes, pack(_in_order(arrays), {**node, "sha256": _seal(node, arrays)})))


def play(hub, sites):
    hub.connected(range(len(sites)))
    for node, site in enumerate(sites):
        hub.receive(node, site.answer(hub.request(node)))


# Replay


def test_an_old_encoder_that_is_sent_again_under_new_names_is_kept_once(files):
    hub = Hub()
    hub.receive(0, Reply("eve", {"eve/old": files[5]}))
    for turn in range(20):
        hub.receive(0, Reply("eve", {f"eve/{turn}": files[5]}))
    assert list(hub.encoders) == ["eve/old"]
    assert hub.n_refusals == 20


def test_a_replayed_request_changes_nothing(sites, files, tmp_path):
    request = Request({"eve/digits": files[5]})
    sites[0].answer(request)
    before = (tmp_path / "ann" / "manifest.json").read_bytes()
    reply = sites[0].answer(request)
    assert "eve/digits" in reply.refused
    assert (tmp_path / "ann" / "manifest.json").read_bytes() == before


def test_a_stolen_encoder_brings_its_owner_nothing_and_costs_the_others_nothing(sites, tmp_path):
    """Eve sends ann's encoder as her own before ann does."""
    stolen = sites[0].answer(Request()).encoders["ann/digits"]
    hub = Hub()
    hub.receive(9, Reply("eve", {"eve/mine": stolen}))
    for _ in range(3):
        play(hub, sites)
    assert "ann/digits" not in hub.encoders
    assert list(load(tmp_path / "ann").encoders_) == ["digits", "bob/digits", "cem/digits"]
    assert list(load(tmp_path / "bob").encoders_) == ["digits", "eve/mine", "cem/digits"]


# Flood


def test_of_a_flood_in_one_reply_only_so_many_are_looked_at():
    hub = Hub(max_encoders=3)
    hub.receive(0, Reply("eve", {f"eve/{number}": b"rubbish" for number in range(100_000)}))
    assert hub.n_refusals == 4, "three that were looked at, and one line for all others"
    assert "It sent 100000 encoders at once" in hub.refusals[0]


def test_claims_and_refusals_without_end_leave_little_behind():
    names = [f"bob/{number}" for number in range(50_000)]
    hub = Hub()
    hub.receive(0, Reply("eve", {}, frozenset(names), dict.fromkeys(names, "no" * 1000)))
    assert hub.n_refusals == 50_000
    assert len(hub.refusals) == MAX_REFUSALS
    assert max(map(len, hub.refusals)) < 600
    assert hub.request(0).known == frozenset()


def test_a_site_that_comes_back_under_other_names_cannot_fill_the_hub(files):
    hub = Hub(max_total_bytes=sum(map(len, files[:3])))
    for number, content in enumerate(files):
        hub.connected([number])
        hub.receive(number, Reply(f"eve{number}", {f"eve{number}/a": content}))
    kept = sum(len(shared.content) for shared in hub.encoders.values())
    assert 0 < kept <= hub.max_total_bytes
    assert "bytes of all encoders together, and max_total_bytes=" in hub.refusals[-1]


def test_a_hub_that_floods_a_site_is_refused_at_the_sites_limit(files, tmp_path):
    make_site(tmp_path, 0)
    site = Site("ann", tmp_path / "ann", max_others=2)
    reply = site.answer(Request({f"eve/{n}": files[n] for n in range(4, 9)}))
    assert list(load(tmp_path / "ann").encoders_) == ["digits", "eve/4", "eve/5"]
    assert set(reply.refused.values()) == {"This site takes 2 encoders of others at most."}
    again = site.answer(Request({"eve/9": files[9]}))
    assert list(again.refused) == ["eve/9"], "also in a later round"


# Lies


def test_a_site_that_claims_to_have_everything_harms_itself_alone(sites, tmp_path):
    hub = Hub()
    play(hub, sites)
    everything = frozenset(hub.encoders)
    hub.receive(9, Reply("eve", has=everything, refused=dict.fromkeys(everything, "bad")))
    play(hub, sites)
    for name in NAMES:
        assert len(load(tmp_path / name).encoders_) == 3


def wrong_shape(node, arrays):
    node["encoder"]["in_shape"] = [7]


def wrong_number_of_leaves(node, arrays):
    for name in arrays:
        if arrays[name].dtype.kind == "i":
            arrays[name] = arrays[name][:-1]


def children_out_of_range(node, arrays):
    for name in arrays:
        if arrays[name].dtype.kind == "i":
            arrays[name] = np.full_like(arrays[name], 2**30)


def thresholds_that_are_nan(node, arrays):
    for name in arrays:
        if arrays[name].dtype.kind == "f":
            arrays[name] = np.full_like(arrays[name], np.nan)


LIES = [wrong_shape, wrong_number_of_leaves, children_out_of_range, thresholds_that_are_nan]


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies_with_a_right_checksum_is_refused_by_hub_and_site(
    lie, sites, files, tmp_path
):
    content = resealed(files[5], lie)
    before = {path.name: path.read_bytes() for path in (tmp_path / "ann").iterdir()}
    hub = Hub()
    hub.receive(0, Reply("eve", {"eve/digits": content}))
    reply = sites[0].answer(Request({"eve/digits": content}))
    assert hub.encoders == {}
    assert len(hub.refusals) == 1
    assert list(reply.refused) == ["eve/digits"]
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "ann").iterdir()}


def test_an_encoder_that_was_trained_on_wrong_labels_does_not_speak_for_the_site(sites, tmp_path):
    """Channels learn from the site's own labels: a liar's labels never arrive."""
    X, y = rows(5, n=90)
    liar = learner(5).partial_fit(X, (y + 1) % 3, task="wrong")
    export_encoder(liar, "wrong", tmp_path / "wrong")
    held_out, labels = rows(0, n=300)
    alone = load(tmp_path / "ann").score(held_out, labels, task="digits")
    sites[0].answer(Request({"eve/wrong": Path(tmp_path / "wrong").read_bytes()}))
    together = load(tmp_path / "ann")
    assert "eve/wrong" in together.encoders_
    assert together.score(held_out, labels, task="digits") > alone - 0.05
