"""The apps on Flower's records and messages; nothing but the network between them is left out."""

import sys
from pathlib import Path

import numpy as np
import pytest
from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Error,
    Message,
    MetricRecord,
    RecordDict,
)
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from lifelong import load
from lifelong.exceptions import InputError, ParameterError
from lifelong.federated import Hub, Reply, Request
from lifelong.federated.client import app as client_app
from lifelong.federated.records import (
    reply_from_records,
    reply_to_records,
    request_from_records,
    request_to_records,
)
from lifelong.federated.server import main, play

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parent / "hostile")]
from hostile_client import app as hostile_app
from small_sites import NAMES, make_site

TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = (
    1,
    1,
    1,
)  # as Flower does when it starts an app
TEXT = {"protocol": 1, "site": "ann", "has": [], "refused": [], "reasons": []}


class Loop(Grid):
    """A grid without a network: every message is handed to the node's ClientApp at once."""

    def __init__(self, nodes):
        self.nodes, self.silent = dict(nodes), set()

    def send_and_receive(self, messages, *, timeout=None):
        for message in messages:
            node = message.metadata.dst_node_id
            app, config = self.nodes[node]
            if node not in self.silent:
                message.metadata.__dict__["_message_id"] = "a message"
                try:
                    yield app(message, context(config))
                except RuntimeError as error:
                    yield Message(Error(2, str(error)), reply_to=message)

    def get_node_ids(self):
        return list(self.nodes)

    def set_run(self, run): ...
    def run(self): ...
    def create_message(self, *args, **kwargs): ...
    def push_messages(self, messages): ...
    def pull_messages(self, message_ids): ...


def context(node_config, run_config=None):
    return Context(
        run_id=1,
        node_id=1,
        node_config=node_config,
        state=RecordDict(),
        run_config=run_config or {},
    )


@pytest.fixture
def nodes(tmp_path):
    for number in range(3):
        make_site(tmp_path, number)
    return {
        number: (client_app, {"site": name, "directory": str(tmp_path / name)})
        for number, name in enumerate(NAMES, 1)
    }


def test_messages_survive_the_way():
    request = Request(
        {"ann/digits": b"\0\1" * 5000, "bob/3": b""}, frozenset({"ann/digits", "x/y"})
    )
    assert request_from_records(request_to_records(request)) == request
    assert request_from_records(request_to_records(Request())) == Request()
    reply = Reply("ann", {"ann/digits": b"abc"}, frozenset({"a/b"}), {"c/d": "because"})
    assert reply_from_records(reply_to_records(reply)) == reply


@pytest.mark.parametrize(
    "records",
    [
        RecordDict(),
        RecordDict({"exchange": ConfigRecord()}),
        RecordDict({"exchange": MetricRecord({"protocol": 1})}),
        RecordDict({"exchange": ConfigRecord({"protocol": 1})}),
        RecordDict(
            {
                "exchange": ConfigRecord(
                    {"protocol": 1, "site": 3, "has": [], "refused": [], "reasons": []}
                )
            }
        ),
        RecordDict(
            {
                "exchange": ConfigRecord(
                    {"protocol": 1, "site": "a", "has": [1], "refused": [], "reasons": []}
                )
            }
        ),
        RecordDict(
            {
                "exchange": ConfigRecord(
                    {"protocol": 1, "site": "a", "has": [], "refused": ["x"], "reasons": []}
                )
            }
        ),
    ],
)
def test_other_records_are_one_clear_error(records):
    with pytest.raises(InputError, match="^It sent "):
        reply_from_records(records)


def test_another_version_is_named():
    with pytest.raises(
        InputError, match="speaks version 7 .* this side version 1. Install the same"
    ):
        request_from_records(RecordDict({"exchange": ConfigRecord({"protocol": 7})}))


def test_arrays_of_numbers_are_no_encoders():
    records = reply_to_records(Reply("ann"))
    records["encoders"] = ArrayRecord({"ann/digits": Array(np.zeros(3))})
    assert reply_from_records(records).encoders == {}


def test_two_rounds_bring_everything_to_everybody(nodes, tmp_path):
    main(Loop(nodes), context({}, {"rounds": 2, "sites": 3}))
    assert list(load(tmp_path / "ann").encoders_) == ["digits", "bob/digits", "cem/digits"]
    assert list(load(tmp_path / "cem").encoders_) == ["digits", "ann/digits", "bob/digits"]


@pytest.mark.parametrize(
    ("hostile", "line"),
    [
        ("garbage", "site 'eve': Encoder 'eve/digits' holds no encoder that can be used: "),
        ("crash", "node 9: crash"),
        ("old", "node 9: It speaks version 0 of the exchange, and this side version 1."),
        ("numbers", "node 9: It sent something else than a message of this exchange."),
        ("replay", "site 'eve': Encoder 'eve/"),
        ("flood", "site 'eve': It sent 5000 encoders at once, and max_encoders=100 per site."),
        ("lie", "site 'eve': it did not take "),
    ],
)
def test_one_that_misbehaves_is_noted_and_the_others_go_on(hostile, line, nodes, tmp_path):
    nodes[9] = (
        hostile_app,
        {"site": "eve", "directory": nodes[1][1]["directory"], "hostile": hostile},
    )
    grid, hub = Loop({node: nodes[node] for node in (1, 2, 9)}), Hub()
    play(grid, hub, timeout=1, turn=1)
    play(grid, hub, timeout=1, turn=2)
    assert hub.refusals[0].startswith(line)
    assert list(load(tmp_path / "bob").encoders_) == ["digits", "ann/digits"]


def test_one_that_says_nothing_is_noted_and_gets_its_encoders_later(nodes, tmp_path):
    grid, hub = Loop(nodes), Hub()
    play(grid, hub, timeout=1, turn=1)
    grid.silent = {2}
    play(grid, hub, timeout=1, turn=2)
    assert hub.refusals == ["site 'bob': No reply within 1 seconds."]
    grid.silent = set()
    play(grid, hub, timeout=1, turn=3)
    assert list(load(tmp_path / "bob").encoders_) == ["digits", "ann/digits", "cem/digits"]


def test_a_site_that_cannot_take_part_tells_the_server_no_folder(nodes, tmp_path):
    nodes[1][1]["directory"] = str(tmp_path / "nowhere")
    grid, hub = Loop(nodes), Hub()
    play(grid, hub, timeout=1, turn=1)
    assert hub.refusals == ["node 1: The site cannot take part now; its own log says why."]
    assert len(hub.encoders) == 2


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"site": "ann"},
        {"site": "a/b", "directory": "d"},
        {"site": "ann", "directory": "d", "max-bytes": 0},
        {"site": "ann", "directory": "d", "max-others": True},
    ],
)
def test_a_node_without_its_configuration_says_so_in_its_log(config, caplog):
    [reply] = Loop({1: (client_app, config)}).send_and_receive(
        [Message(request_to_records(Request()), 1, "train")]
    )
    assert reply.has_error()


@pytest.mark.parametrize(
    "settings", [{"rounds": 0}, {"rounds": "two"}, {"max-bytes": -1}, {"pause": -1}]
)
def test_settings_out_of_range_are_named(settings, nodes):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        main(Loop(nodes), context({}, {"sites": 3, **settings}))


def test_a_simulated_site_is_a_folder_in_a_folder(nodes, tmp_path):
    from lifelong.federated.client import site_from

    site = site_from(
        context({"partition-id": 1, "num-partitions": 3}, {"simulated-sites": str(tmp_path)})
    )
    assert (site.name, site.directory) == ("bob", tmp_path / "bob")
