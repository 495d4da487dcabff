"""ONNX files from strangers: never parsed, whatever is in them and whatever they are called."""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_mutations import WAYS, mutate, real_file, refusals
from small import network, same_answers, taught

from lifelong import load, save
from lifelong.exceptions import PersistenceError
from lifelong.federated import Hub, Reply, Request, Site


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return real_file(tmp_path_factory.mktemp("real"))


def test_four_hundred_mutated_files_are_refused_with_one_error_and_nothing_is_opened(
    real, tmp_path
):
    refusals(real, tmp_path)  # imports of ours come first: they are code, but not the file's
    for number in range(400):
        figures = refusals(mutate(real, random.Random(number)), tmp_path, measured=number % 10 == 0)
        assert figures == {"unread": 2, "refused": 1}


@pytest.mark.parametrize("way", WAYS)
def test_each_kind_of_mutation_changes_the_real_file(way, real):
    """The test above would be blind if the files stayed as they were."""
    model = onnx.load_from_string(real)
    way(model, random.Random(1))
    assert model.SerializeToString() != real


def test_a_learner_a_site_and_a_hub_are_as_before_after_a_mutated_graph(real, tmp_path):
    learner = taught(network(), 2)
    save(learner, tmp_path / "site")
    (tmp_path / "graph.onnx").write_bytes(mutate(real, random.Random(3)))
    before = dict(vars(learner))
    with pytest.raises(PersistenceError, match="ONNX files are for other programs"):
        learner.add_encoder(tmp_path / "graph.onnx", name="evil")
    assert vars(learner) == before
    hub = Hub()
    hub.receive(0, Reply("eve", {"eve/graph": real}))
    assert hub.encoders == {}
    assert "holds no encoder that can be used" in hub.refusals[0]
    reply = Site("ann", tmp_path / "site").answer(Request({"eve/graph.onnx": real}))
    assert list(reply.refused) == ["eve/graph.onnx"]
    assert same_answers(load(tmp_path / "site"), learner)


def test_what_we_export_is_a_valid_graph_that_names_no_other_file(real):
    model = onnx.load_from_string(real)
    onnx.checker.check_model(model, full_check=True)
    for tensor in model.graph.initializer:
        assert tensor.data_location == TensorProto.DEFAULT
        assert not tensor.external_data
        assert np.isfinite(onnx.numpy_helper.to_array(tensor)).all()
    assert {opset.domain for opset in model.opset_import} == {""}
    assert not model.functions
