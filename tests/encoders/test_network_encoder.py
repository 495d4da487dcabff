"""Network encoders: the paper's shapes, honest training, and torch left as it was found."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lifelong.encoders.network import NetworkEncoder
from lifelong.exceptions import ParameterError
from lifelong.nets import Recipe
from lifelong.nets.architectures import build
from lifelong.nets.training import batches, fit_classifier

TINY = NetworkEncoder(network=(8,), recipe=Recipe(epochs=3, lr=1e-2))


def rows(n=60, shape=(5,)):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return (rng.normal(size=(n, *shape)) + y.reshape(-1, *[1] * len(shape))).astype(np.float32), y


def test_the_base_cnn_has_the_papers_layers():
    body = build("cnn", (3, 32, 32))
    convolutions = [layer for layer in body.modules() if isinstance(layer, torch.nn.Conv2d)]
    dense = [layer for layer in body.modules() if isinstance(layer, torch.nn.Linear)]
    assert [layer.out_channels for layer in convolutions] == [16, 32, 64, 128, 254]
    assert [layer.stride[0] for layer in convolutions] == [1, 2, 2, 2, 2]
    assert [layer.out_features for layer in dense] == [2000, 2000]
    assert dense[0].in_features == 1016
    assert body(torch.zeros(2, 3, 32, 32)).shape == (2, 2000)


@pytest.mark.parametrize("shape", [(1, 8, 8), (1, 28, 28), (3, 50, 50), (3, 84, 84)])
def test_the_cnn_fits_every_image_size_of_the_benchmarks(shape):
    assert build("auto", shape, width=0.1)(torch.zeros(2, *shape)).shape == (2, 200)


def test_a_quarter_of_the_width_is_a_quarter_of_every_layer():
    layers = [
        layer
        for layer in build("cnn", (3, 32, 32), width=0.25).modules()
        if hasattr(layer, "out_channels")
    ]
    assert [layer.out_channels for layer in layers] == [4, 8, 16, 32, 64]


def test_the_representation_is_the_last_hidden_relu():
    X, y = rows()
    Z = TINY.fit(X, y, rng=np.random.default_rng(0)).encode(X)
    assert Z.shape == (60, 8)
    assert Z.dtype == np.float32
    assert (Z >= 0).all()


def test_held_out_rows_do_not_touch_the_encoder():
    X, y = rows()
    in_bag = TINY.split(y, rng=np.random.default_rng(1))
    other = np.where(in_bag[:, None], X, 1e6).astype(np.float32)
    one, two = (
        TINY.fit(part, y, in_bag=in_bag, rng=np.random.default_rng(2)).encode(X)
        for part in (X, other)
    )
    np.testing.assert_array_equal(one, two)


def test_several_networks_are_what_each_of_them_would_be_alone_side_by_side():
    X, y = rows()
    in_bag = TINY.split(y, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    alone = [TINY.fit(X, y, in_bag=in_bag, rng=rng).encode(X) for _ in range(3)]
    together = replace(TINY, n_networks=3).fit(X, y, in_bag=in_bag, rng=np.random.default_rng(2))
    np.testing.assert_array_equal(together.encode(X), np.concatenate(alone, axis=1))
    assert not np.array_equal(alone[0], alone[1])
    assert together.n_parameters == 3 * TINY.fit(X, y, in_bag=in_bag, rng=rng).n_parameters


def largest_in_cells(maps, cells):
    """Cells overlap where a side is not a multiple of their number."""
    starts = [[cell * side // cells for cell in range(cells)] for side in maps.shape[2:]]
    ends = [[-(-(cell + 1) * side // cells) for cell in range(cells)] for side in maps.shape[2:]]
    places = [
        [slice(*at) for at in zip(*both, strict=True)] for both in zip(starts, ends, strict=True)
    ]
    largest = [
        maps[:, :, down, across].max(axis=(2, 3)) for down in places[0] for across in places[1]
    ]
    return np.stack(largest, axis=2).reshape(len(maps), -1)


CNN = NetworkEncoder("cnn", width=0.1, recipe=Recipe(epochs=1), max_samples=0.999, layer="middle")
EVERY_ROW = np.ones(60, dtype=bool)


def test_the_middle_of_a_cnn_is_all_its_convolutions_pooled_and_equally_loud_and_its_answer():
    X, y = rows(60, (3, 16, 16))
    middle = CNN.fit(X, y, in_bag=EVERY_ROW, rng=np.random.default_rng(0))
    (front, network), head = fit_classifier(
        X,
        y,
        network="cnn",
        width=0.1,
        recipe=CNN.recipe,
        rng=np.random.default_rng(0),
        device=torch.device("cpu"),
    )
    with torch.no_grad():
        x, pooled = front(torch.from_numpy(X)), []
        answer = torch.softmax(head(network(x)), dim=1).numpy()
        for layer in list(network)[:15]:
            x = layer(x)
            if isinstance(layer, torch.nn.ReLU):  # what a convolution and its batch norm end in
                pooled += [
                    largest_in_cells(x.numpy(), cells)
                    for cells in (1, 2, 3, 4)
                    if cells <= x.shape[2]
                ]
    roots = [np.sqrt(one) for one in pooled]
    centred = [one - one.mean(axis=0) for one in roots]
    by_hand = np.concatenate(
        [*(one / np.sqrt((one**2).sum(axis=1).mean()) for one in centred), answer], axis=1
    )
    np.testing.assert_allclose(middle.encode(X), by_hand, atol=1e-4)
    assert middle.encode(X).shape[1] == (1 + 4 + 9 + 16) * (2 + 3 + 6) + (1 + 4) * 13 + 25 + 3
    assert middle.n_answers == 3


@pytest.mark.parametrize("n", [1, 2])
def test_a_cnn_may_be_trained_on_a_single_image(n):
    X, y = rows(n, (3, 8, 8))
    encoder = replace(CNN, max_samples=0.5).fit(X, y, rng=np.random.default_rng(0))
    assert np.isfinite(encoder.encode(X)).all()


def test_several_cnns_give_one_answer_which_comes_last():
    X, y = rows(60, (3, 16, 16))
    rng = np.random.default_rng(0)
    one, other = (CNN.fit(X, y, in_bag=EVERY_ROW, rng=rng).encode(X) for _ in range(2))
    together = replace(CNN, n_networks=2).fit(X, y, in_bag=EVERY_ROW, rng=np.random.default_rng(0))
    by_hand = np.concatenate(
        [one[:, :-3], other[:, :-3], (one[:, -3:] + other[:, -3:]) / 2], axis=1
    )
    np.testing.assert_allclose(together.encode(X), by_hand, atol=1e-6)
    assert together.n_answers == 3


def test_the_middle_of_an_mlp_is_all_its_hidden_layers_equally_loud():
    X, y = rows()
    encoder, in_bag = NetworkEncoder((8, 6), recipe=Recipe(epochs=1)), np.ones(60, dtype=bool)
    whole, middle = (
        replace(encoder, layer=layer).fit(X, y, in_bag=in_bag, rng=np.random.default_rng(0))
        for layer in ("last", "middle")
    )
    front, network = whole.body
    with torch.no_grad():
        first = network[:3](front(torch.from_numpy(X)))
        centred = [(one - one.mean(dim=0)).numpy() for one in (first, network[3:](first))]
    by_hand = np.concatenate(
        [one / np.sqrt((one**2).sum(axis=1).mean()) for one in centred], axis=1
    )
    np.testing.assert_allclose(middle.encode(X), by_hand, atol=1e-5)
    assert middle.encode(X).shape == (60, 8 + 6)


def test_the_middle_of_a_users_network_may_be_negative():
    def network(in_shape):
        return torch.nn.Sequential(
            torch.nn.Conv2d(in_shape[0], 4, 3), torch.nn.Tanh(), torch.nn.Flatten()
        )

    X, y = rows(60, (3, 8, 8))
    encoder = NetworkEncoder(network, recipe=Recipe(epochs=1), layer="middle")
    Z = encoder.fit(X, y, rng=np.random.default_rng(0)).encode(X)
    assert np.isfinite(Z).all()
    assert Z.shape == (60, 30 * 4 + 3)


def test_no_network_at_all_is_refused_when_the_encoder_is_described():
    with pytest.raises(ParameterError, match="n_networks=0"):
        replace(TINY, n_networks=0)


def test_torchs_own_randomness_and_threads_are_left_as_they_were():
    X, y = rows()
    torch.set_num_threads(2)
    state = torch.get_rng_state()
    TINY.fit(X, y, rng=np.random.default_rng(0)).encode(X)
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_num_threads() == 2


def test_the_same_generator_gives_the_same_bits_whatever_torch_was_doing():
    X, y = rows()
    first = TINY.fit(X, y, rng=np.random.default_rng(3)).encode(X)
    torch.rand(7)
    np.testing.assert_array_equal(first, TINY.fit(X, y, rng=np.random.default_rng(3)).encode(X))


def test_inputs_of_any_scale_are_standardised():
    X, y = rows()
    small, large = (
        TINY.fit(scale * X, y, rng=np.random.default_rng(0)).encode(scale * X)
        for scale in (1.0, np.float32(1024))
    )
    np.testing.assert_allclose(small, large, rtol=1e-3, atol=1e-4)


def test_a_constant_column_is_no_division_by_zero():
    X, y = rows()
    X[:, 0] = 3
    assert np.isfinite(TINY.fit(X, y, rng=np.random.default_rng(0)).encode(X)).all()


@pytest.mark.parametrize(("n", "size"), [(65, 32), (64, 32), (33, 32), (1, 32), (31, 32), (97, 32)])
def test_batches_hold_every_row_once_and_never_a_single_row_at_the_end(n, size):
    parts = list(batches(n, size))
    assert sorted(torch.cat(parts).tolist()) == list(range(n))
    assert n == 1 or min(len(part) for part in parts) > 1


def test_an_unknown_network_is_refused_with_the_choices():
    with pytest.raises(ParameterError, match="'resnet' is unknown. Choose 'auto', 'cnn', 'mlp'"):
        build("resnet", (3, 8, 8))
    with pytest.raises(ParameterError, match="reads images"):
        build("cnn", (5,))
    with pytest.raises(ParameterError, match="must return a torch nn.Module"):
        build(lambda shape: shape, (5,))


def test_a_users_own_module_works():
    X, y = rows()
    encoder = NetworkEncoder(lambda shape: torch.nn.Linear(shape[0], 7), recipe=Recipe(epochs=1))
    assert encoder.fit(X, y, rng=np.random.default_rng(0)).encode(X).shape == (60, 7)
