"""Network encoders in other programs: onnxruntime gives the same representation."""

import numpy as np
import onnxruntime as runtime
import pytest
from small import QUICK, forest, rows, taught

from lifelong import Recipe, SillyNetwork, export_encoder, import_encoder
from lifelong.exceptions import PersistenceError

TRAINED = Recipe(iterations=40, batch_size=16, lr=1e-2)
AUGMENTED = Recipe(iterations=40, batch_size=16, lr=1e-2, augment=True)
NETWORKS = {
    "cnn, last layer": ({"network": "cnn", "recipe": TRAINED}, (3, 12, 12)),
    "cnn, middle layer": ({"network": "cnn", "layer": "middle", "recipe": TRAINED}, (3, 16, 16)),
    "cnn, middle layer, odd sides": (
        {"network": "cnn", "layer": "middle", "recipe": TRAINED},
        (1, 37, 21),
    ),
    "cnn, mirrored": ({"network": "cnn", "layer": "middle", "recipe": AUGMENTED}, (3, 16, 16)),
    "two cnns, mirrored": (
        {"network": "cnn", "layer": "middle", "n_networks": 2, "recipe": AUGMENTED},
        (3, 16, 16),
    ),
    "mlp, last layer": ({"network": (30, 20), "recipe": TRAINED}, (6,)),
    "mlp, middle layer": ({"network": (30, 20), "layer": "middle", "recipe": TRAINED}, (6,)),
    "mlp on images": ({"network": (30,), "recipe": TRAINED}, (1, 6, 6)),
}


def images_or_rows(shape, n=80, seed=0):
    """Two classes, far from standardised; images as likely from the left as from the right."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = 50 + 20 * rng.normal(size=(n, *shape)) + 30 * y.reshape(-1, *[1] * len(shape))
    return X.astype(np.float32), y


def session(path):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(path, options)


@pytest.mark.parametrize("name", NETWORKS)
def test_onnxruntime_gives_the_same_representation(name, tmp_path):
    parameters, shape = NETWORKS[name]
    learner = SillyNetwork(width=1.0 if len(shape) == 1 else 0.1, random_state=0, **parameters)
    X, y = images_or_rows(shape)
    learner.partial_fit(X, y, task="a")
    encoder = learner.encoders_["a"]
    assert ("mirrored" in name) == any(
        bool(part.mirrors) for part in encoder.body.modules() if hasattr(part, "mirrors")
    )
    export_encoder(learner, "a", tmp_path / "a.onnx")
    graph = session(tmp_path / "a.onnx")
    for n in (1, 7, 80):  # any number of rows
        (Z,) = graph.run(None, {"rows": X[:n]})
        expected = encoder.encode(X[:n])
        assert Z.shape == expected.shape
        assert np.abs(Z - expected).max() <= 1e-5 * max(1, np.abs(expected).max())
    assert np.abs(encoder.encode(X)).max() > 0.1
    assert graph.get_modelmeta().custom_metadata_map["in_shape"] == "x".join(map(str, shape))


def test_dropout_batch_norm_and_layers_without_bias_are_exported(tmp_path):
    from torch import nn

    def network(in_shape):
        return nn.Sequential(
            nn.Linear(*in_shape, 8, bias=False),
            nn.BatchNorm1d(8),
            nn.Identity(),
            nn.Dropout(0.5),
            nn.ReLU(),
        )

    X, y = images_or_rows((5,))
    learner = SillyNetwork(network, recipe=TRAINED, random_state=0).partial_fit(X, y, task="a")
    export_encoder(learner, "a", tmp_path / "a.ONNX")
    (Z,) = session(tmp_path / "a.ONNX").run(None, {"rows": X})
    assert np.allclose(Z, learner.encoders_["a"].encode(X), atol=1e-5)


def test_what_onnx_cannot_hold_is_said_in_one_line(tmp_path):
    from torch import nn

    class Odd(nn.Linear):
        pass

    with pytest.raises(PersistenceError, match="ONNX is for networks, and this is a forest"):
        export_encoder(taught(forest(), 1), "task-0", tmp_path / "a.onnx")
    learner = SillyNetwork(lambda shape: Odd(*shape, 3), recipe=QUICK).partial_fit(
        *rows(0), task="a"
    )
    with pytest.raises(PersistenceError, match="layers of your own"):
        export_encoder(learner, "a", tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.onnx").write_bytes(b"")
    with pytest.raises(PersistenceError, match="ONNX files are for other programs"):
        import_encoder(tmp_path / "a.onnx")
