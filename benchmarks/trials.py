"""Ideas that were tried for speed: ``python -m benchmarks.trials
[walk|sums|sizes|training|halves|narrow|faults|pools|together|ridge|chunks|neighbours|batches|precision]``.

What they gave is in docs/performance.md; what ``batches`` gave, in
docs/experiments/tabular-cifar.md. The last two need CIFAR-100. Sides take turns; milliseconds are
medians of CPU seconds.
"""

import argparse
import copy
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestNeighbors
from torch import nn
from torch.nn.functional import adaptive_max_pool2d, cross_entropy, max_pool2d

from benchmarks.fitting_tables import drawn
from benchmarks.measure import timed
from benchmarks.streams import image_tasks
from benchmarks.training_an_encoder import bare_loop
from lifelong import LifelongClassifier
from lifelong.channels.ridge.settings import PENALTIES
from lifelong.channels.ridge.solver import solve
from lifelong.channels.summing import compiled_sum
from lifelong.encoders import boosted
from lifelong.encoders.forest import FittedForest, ForestEncoder
from lifelong.encoders.network import NetworkEncoder
from lifelong.nets.architectures import Standardise, build, cnn, cnn_sizes
from lifelong.nets.classifier import NetworkClassifier
from lifelong.nets.recipe import Recipe
from lifelong.tasks.datasets import load


def in_turns(what: str, sides: dict[str, Callable[[], Any]], repeats: int) -> None:
    """Print each side's milliseconds, and as a multiple of the first side's, with the range."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            began = time.process_time()
            side()
            seconds[name].append(time.process_time() - began)
    first = next(iter(seconds.values()))
    said = []
    for name, times in seconds.items():
        ratios = sorted(a / b for a, b in zip(times, first, strict=True))
        ratio = statistics.median(ratios)
        spread = f"{ratio:.2f}, {ratios[0]:.2f}–{ratios[-1]:.2f}"
        said.append(f"{name} {1e3 * statistics.median(times):.2f} ms ({spread})")
    print(f"{what}: {'; '.join(said)}", flush=True)


def walk() -> None:
    """All trees of a forest at once in numpy, level by level, against scikit-learn tree by tree."""
    rng = np.random.default_rng(0)
    for n, p, n_trees, n_train in (
        (1000, 3072, 10, 500),
        (1000, 3072, 100, 500),
        (5000, 54, 100, 5000),
        (1, 64, 10, 500),
    ):
        X = rng.random((n_train, p), dtype=np.float32)
        forest = ForestEncoder(n_trees).fit(X, (10 * X[:, 0]).astype(int), rng=rng)
        rows = rng.random((n, p), dtype=np.float32)
        descend = _descent(forest)
        assert np.array_equal(descend(rows), forest.encode(rows))
        sides = {
            "scikit-learn": lambda f=forest, r=rows: f.encode(r),
            "at once": lambda d=descend, r=rows: d(r),
        }
        in_turns(f"{n} × {p} through {n_trees} trees", sides, 9)


def _descent(forest: FittedForest) -> Callable[[np.ndarray], np.ndarray]:
    starts = np.cumsum([0, *(tree.node_count for tree in forest.trees)])
    nodes = list(zip(forest.trees, starts[:-1], strict=True))
    both = [(tree.children_left, tree.children_right, at) for tree, at in nodes]
    children = np.concatenate(
        [np.stack([left, right], axis=1) + at * (left >= 0)[:, None] for left, right, at in both]
    )
    feature = np.concatenate([np.maximum(tree.feature, 0) for tree in forest.trees])
    threshold = np.concatenate([tree.threshold for tree in forest.trees])
    number = np.concatenate(forest.leaf_of_node)
    inner = children[:, 0] >= 0

    def descend(X: np.ndarray) -> np.ndarray:
        place = np.tile(starts[:-1], len(X))
        row = np.repeat(np.arange(len(X)) * X.shape[1], len(nodes))
        going = np.arange(place.size)
        while len(going := going[inner[place[going]]]):
            at = place[going]
            right = X.ravel().take(row[going] + feature.take(at)) > threshold.take(at)
            place[going] = children.ravel().take(2 * at + right)
        return number.take(place).reshape(len(X), -1)

    return descend


def sums() -> None:
    """Posteriors of 10 trees' leaves, added by numpy and by the compiled loop: the same bits."""
    add = compiled_sum()
    assert add is not None
    rng = np.random.default_rng(0)
    for n, n_leaves, n_classes in ((1000, 170, 5), (500, 1500, 10), (1000, 1500, 2)):
        posteriors = rng.random((n_leaves + 1, n_classes))
        leaves = rng.integers(0, n_leaves, (10, n)).astype(np.int32)

        def by_numpy(P: np.ndarray, Z: np.ndarray) -> np.ndarray:
            votes = np.zeros((Z.shape[1], P.shape[1]))
            for of_tree in Z:
                votes += P.take(of_tree, axis=0)
            return votes

        def compiled(P: np.ndarray, Z: np.ndarray) -> np.ndarray:
            votes = np.zeros((Z.shape[1], P.shape[1]))
            add(P, Z, votes)
            return votes

        assert np.array_equal(by_numpy(posteriors, leaves), compiled(posteriors, leaves))
        sides = {
            "numpy": lambda P=posteriors, Z=leaves: [by_numpy(P, Z) for _ in range(50)],
            "compiled (used)": lambda P=posteriors, Z=leaves: [compiled(P, Z) for _ in range(50)],
        }
        in_turns(f"50 times {n} rows, {n_classes} classes", sides, 9)


def training() -> None:
    """One epoch of the paper's CNN and of a narrow one, in several ways."""
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.random((335, 3, 32, 32), dtype=np.float32))
    y = torch.arange(335) % 10
    last = torch.channels_last
    default = torch.contiguous_format

    def epoch(
        width: float, weights: torch.memory_format, *, fused: bool = True, once: bool = False
    ) -> None:
        body = cnn((3, 32, 32), width).to(memory_format=weights)
        standardise = Standardise(X)
        if once:
            rows = standardise(X).to(memory_format=weights)
        else:
            rows = X
        head = nn.Linear(body[-2].out_features, 10)
        if once:
            model = nn.Sequential(body, head)
        else:
            model = nn.Sequential(standardise, body, head)
        optimiser = torch.optim.Adam(model.parameters(), fused=fused)
        for batch in torch.randperm(335).split(32):
            optimiser.zero_grad()
            cross_entropy(model(rows[batch]), y[batch]).backward()
            optimiser.step()

    for width in (1.0, 0.25):
        sides = {
            "bare": lambda w=width: epoch(w, default, fused=False),
            "fused": lambda w=width: epoch(w, default),
            "fused, channels_last": lambda w=width: epoch(w, last),
            "… and standardised once (used)": lambda w=width: epoch(w, last, once=True),
            "fused, standardised once": lambda w=width: epoch(w, default, once=True),
        }
        in_turns(f"CNN × {width}", sides, 6)


def halves() -> None:
    """A step in float32 and in bfloat16, for networks of many sizes: what "auto" goes by."""
    square = torch.ones(256, 256)
    halved = square.bfloat16()
    products = {"float32": lambda: square @ square, "bfloat16": lambda: halved @ halved}
    in_turns("a product of 256 × 256", products, 25)
    shapes: list[tuple[Any, tuple[int, ...], float]] = [
        ((10, 10), (2,), 1.0),
        ((128, 128), (54,), 1.0),
        ((512, 512), (54,), 1.0),
        ("mlp", (54,), 0.25),
        ("mlp", (54,), 1.0),
        ("cnn", (3, 32, 32), 0.1),
        ("cnn", (3, 32, 32), 0.25),
        ("cnn", (3, 32, 32), 0.5),
        ("cnn", (3, 32, 32), 1.0),
        ("cnn", (3, 84, 84), 0.25),
    ]
    for network, shape, width in shapes:
        model = with_head(build(network, shape, width), shape)
        weights = sum(weight.numel() for weight in model.parameters())
        for n in (32, 64):
            full, half = (a_step(model, shape, n, half) for half in (False, True))
            half()
            what = f"{network} × {width} on {shape}, {weights} weights, batches of {n}"
            in_turns(what, {"float32": full, "bfloat16": half}, 9)


def faults() -> None:
    """Seconds and page faults of training the paper's CNN, ours and a bare loop; run this alone,
    and once more with MALLOC_MMAP_THRESHOLD_=4000000000 MALLOC_TRIM_THRESHOLD_=8000000000, which
    keeps memory that was freed.
    """
    X, y = image_tasks(1, 335, (3, 32, 32))[0]
    recipe = Recipe(epochs=3)
    encoder = NetworkEncoder("cnn", max_samples=1.0, recipe=recipe)
    sides: dict[str, Callable[[], Any]] = {
        "ours": lambda: encoder.fit(X, y, rng=np.random.default_rng(0)),
        "bare": lambda: bare_loop(X, y, 1.0, recipe),
    }
    for _ in range(3):
        for name, side in sides.items():
            began = time.process_time()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            side()
            n = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
            print(f"{name}: {time.process_time() - began:.2f} s, {n} page faults")


def pools() -> None:
    """The largest values of maps in the cells of a grid, as ``middle`` networks read them."""

    def by_slices(x: torch.Tensor, cells: int) -> torch.Tensor:
        def edges(n: int) -> list[tuple[int, int]]:
            return [(i * n // cells, -(-(i + 1) * n // cells)) for i in range(cells)]

        rows = torch.stack([x[:, :, a:b].amax(2) for a, b in edges(x.shape[2])], 2)
        return torch.stack([rows[:, :, :, a:b].amax(3) for a, b in edges(x.shape[3])], 3)

    for channels, side in ((16, 32), (32, 16), (64, 8)):
        x = torch.randn(128, channels, side, side).to(memory_format=torch.channels_last)
        for cells in (1, 2, 4):
            with torch.inference_mode():
                sides = {
                    "adaptive (used)": lambda x=x, c=cells: adaptive_max_pool2d(x, c),
                    "slices": lambda x=x, c=cells: by_slices(x, c),
                    "max_pool2d": lambda x=x, c=cells: max_pool2d(x, x.shape[2] // c),
                }
                assert all(torch.equal(way(), sides["slices"]()) for way in sides.values())
                in_turns(f"{channels} maps of {side} × {side} on a grid of {cells}", sides, 9)


def with_head(body: nn.Module, shape: tuple[int, ...]) -> nn.Module:
    """A network for ten classes."""
    with torch.no_grad():
        width = body(torch.zeros(2, *shape)).shape[1]
    return nn.Sequential(body, nn.Linear(width, 10))


def a_step(
    model: nn.Module, shape: tuple[int, ...], n: int, half: bool = False
) -> Callable[[], None]:
    """Three steps of training on the same rows, as work to time."""
    rows = torch.randn(n, *shape)
    if len(shape) == 3:
        rows = rows.to(memory_format=torch.channels_last)
    targets = torch.arange(n) % 10
    optimiser = torch.optim.Adam(model.parameters(), fused=True)
    model.train()

    def steps() -> None:
        for _ in range(3):
            optimiser.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
                loss = cross_entropy(model(rows), targets)
            loss.backward()
            optimiser.step()

    return steps


def narrow() -> None:
    """A step of the narrow CNN: its parts, and what could make it faster."""
    shape = (3, 32, 32)
    rows = torch.randn(32, *shape).to(memory_format=torch.channels_last)
    targets = torch.arange(32) % 10
    model = with_head(cnn(shape, 0.25), shape).train()
    weights = list(model.parameters())
    means, squares = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    steps = [torch.zeros(()) for _ in weights]
    fused = torch.optim.Adam(weights, fused=True)

    def learnt(network: nn.Module, images: torch.Tensor) -> None:
        network.zero_grad(set_to_none=True)
        cross_entropy(network(images), targets).backward()

    def without_optimiser_class() -> None:
        learnt(model, rows)
        with torch.no_grad():
            torch._fused_adam_(
                weights,
                [weight.grad for weight in weights],
                means,
                squares,
                [],
                steps,
                lr=3e-4,
                beta1=0.9,
                beta2=0.999,
                weight_decay=0.0,
                eps=1e-8,
                amsgrad=False,
                maximize=False,
            )

    def used() -> None:
        learnt(model, rows)
        fused.step()

    contiguous = with_head(cnn(shape, 0.25), shape).to(memory_format=torch.contiguous_format)
    as_tutorials = torch.optim.Adam(contiguous.parameters())
    images = rows.contiguous()

    def bare() -> None:
        learnt(contiguous, images)
        as_tutorials.step()

    in_place = with_head(cnn(shape, 0.25), shape).to(memory_format=torch.channels_last).train()
    for layer in in_place.modules():
        if isinstance(layer, nn.ReLU):
            layer.inplace = True
    of_in_place = torch.optim.Adam(in_place.parameters(), fused=True)

    def relu_in_place() -> None:
        learnt(in_place, rows)
        of_in_place.step()

    sides = {
        "bare": bare,
        "used": used,
        "without the optimiser": lambda: learnt(model, rows),
        "fused Adam called directly": without_optimiser_class,
        "ReLU in place": relu_in_place,
        "bfloat16": a_step(model, shape, 32, half=True),
    }
    sides = {name: lambda side=side: [side() for _ in range(3)] for name, side in sides.items()}
    sides["bfloat16"] = a_step(model, shape, 32, half=True)
    in_turns("three steps of the CNN × 0.25", sides, 25)


class Together(nn.Module):
    """Several CNNs of equal size as one: grouped convolutions, batched products."""

    def __init__(self, width: float, n: int, n_classes: int = 10) -> None:
        super().__init__()
        self.n = n
        sizes = cnn_sizes((3, 32, 32), width)
        layers: list[nn.Module] = []
        for channels_in, channels, stride in sizes.convolutions:
            convolution = nn.Conv2d(n * channels_in, n * channels, 3, stride, 1, groups=n)
            layers += [convolution, nn.BatchNorm2d(n * channels), nn.ReLU()]
        self.convolutions = nn.Sequential(*layers)
        widths = [sizes.flat, *sizes.dense, n_classes]
        self.dense = nn.ParameterList(
            nn.Parameter(torch.randn(n, a, b) / a**0.5) for a, b in pairwise(widths)
        )

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows (n, b, c, h, w), each network its own → logits (n, b, K)."""
        n, b, c, h, w = rows.shape
        maps = self.convolutions(rows.transpose(0, 1).reshape(b, n * c, h, w))
        values = maps.reshape(b, n, -1).transpose(0, 1)
        *hidden, last = self.dense
        for weight in hidden:
            values = torch.bmm(values, weight).relu()
        return torch.bmm(values, last)


def together() -> None:
    """A step of four CNNs at once, grouped and vmapped, against one after another."""
    shape = (3, 32, 32)
    n = 4
    targets = (torch.arange(32) % 10).repeat(n)
    for width in (0.1, 0.25):
        each = [with_head(cnn(shape, width), shape) for _ in range(n)]
        one_by_one = [a_step(model, shape, 32) for model in each]
        grouped = Together(width, n)
        rows = torch.randn(n, 32, *shape)
        optimiser = torch.optim.Adam(grouped.parameters(), fused=True)

        def at_once(g: Any = grouped, o: Any = optimiser, r: Any = rows) -> None:
            for _ in range(3):
                o.zero_grad(set_to_none=True)
                cross_entropy(g(r).flatten(0, 1), targets).backward()
                o.step()

        sides = {
            "one after another": lambda steps=one_by_one: [step() for step in steps],
            "grouped": at_once,
            "vmapped": vmapped(each, rows, targets.view(n, 32)),
        }
        in_turns(f"three steps of {n} CNNs × {width}", sides, 9)


def vmapped(
    models: list[nn.Module], rows: torch.Tensor, targets: torch.Tensor
) -> Callable[[], None]:
    """Three steps of all networks by torch.func; batch norm takes the batch's own statistics."""
    bare = [copy.deepcopy(model) for model in models]
    for model in bare:
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.track_running_stats = False
                layer.running_mean = layer.running_var = layer.num_batches_tracked = None
    weights, _ = torch.func.stack_module_state(bare)
    optimiser = torch.optim.Adam(weights.values(), fused=True)

    def loss(one: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return cross_entropy(torch.func.functional_call(bare[0], one, (x,)), y)

    def steps() -> None:
        for _ in range(3):
            optimiser.zero_grad(set_to_none=True)
            torch.func.vmap(loss)(weights, rows, targets).sum().backward()
            optimiser.step()

    return steps


def ridge() -> None:
    """Parts of a ridge solve, each in other ways: products, factorisation, many small tasks."""
    rng = np.random.default_rng(0)
    for n, d in ((500, 4000), (2000, 4000)):
        A = rng.random((n, d), dtype=np.float32)
        Y = rng.random((n, 10))
        wide = A.astype(np.float64)
        in_turns(
            f"products of {n} rows × {d}",
            {"float32 (used)": lambda A=A: A @ A.T, "float64": lambda A=wide: A @ A.T},
            5,
        )
        K = np.asarray(A @ A.T, dtype=np.float64) / d

        def per_penalty(K: np.ndarray = K, Y: np.ndarray = Y) -> None:
            for penalty in PENALTIES:
                inverse = cho_solve(cho_factor(K + penalty * np.eye(len(K))), np.eye(len(K)))
                inverse @ Y  # leave-one-out scores need the diagonal of the inverse as well

        narrow = K.astype(np.float32)
        in_turns(
            f"{len(PENALTIES)} penalties, 10 classes, {n} rows",
            {
                "one factorisation (used)": lambda K=K, Y=Y: solve(K, Y),
                "one for each penalty": per_penalty,
                "eigenvectors alone": lambda K=K: eigh(K, check_finite=False, driver="evd"),
                "… in float32": lambda K=narrow: eigh(K, check_finite=False, driver="evd"),
            },
            3,
        )
    for n in (30, 100):
        many = rng.random((100, n, 2 * n))
        stack = many @ many.transpose(0, 2, 1)
        in_turns(
            f"100 tasks of {n} rows",
            {
                "one by one (used)": lambda s=stack: [
                    eigh(K, check_finite=False, driver="evd") for K in s
                ],
                "one batched call": lambda s=stack: np.linalg.eigh(s),
            },
            5,
        )


def chunks() -> None:
    """500 images through the paper's CNN, so many at a time."""
    for shape in ((3, 32, 32), (3, 84, 84)):
        net = cnn(shape).eval()
        X = torch.randn(500, *shape)
        sides = {
            str(n): lambda n=n, net=net, X=X: [net(batch) for batch in X.split(n)]
            for n in (500, 250, 128, 97, 32)
        }
        with torch.inference_mode():
            in_turns(f"{shape[1]} × {shape[2]} pixels", sides, 5)


def neighbours() -> None:
    """The 13 nearest of 165 rows in 2000 dimensions, for 500 rows."""
    rng = np.random.default_rng(0)
    known, rows = (rng.random((n, 2000), dtype=np.float32) for n in (165, 500))

    def product(dtype: type) -> np.ndarray:
        a = known.astype(dtype)
        b = rows.astype(dtype)
        return np.argpartition((a * a).sum(axis=1) - 2 * (b @ a.T), 12, axis=1)[:, :13]

    def searched() -> np.ndarray:
        return NearestNeighbors(n_neighbors=13).fit(known).kneighbors(rows, return_distance=False)

    sides = {
        "scikit-learn": searched,
        "float64": lambda: product(np.float64),
        "float32": lambda: product(np.float32),
    }
    in_turns("neighbours", sides, 15)


def batches() -> None:
    """The tabular network with smaller and larger batches."""
    for size in (32, 64, 128):
        _judge(
            f"batches of {size}",
            "tabular-cifar",
            "mlp",
            Recipe(epochs=20, batch_size=size, lr=3e-4),
        )


def precision() -> None:
    """The paper's CNN with the strong recipe, its products in float32 and in bfloat16."""
    for name in ("float32", "bfloat16"):
        _judge(name, "cifar-10x10", "cnn", replace(Recipe.strong(), precision=name))


def _judge(what: str, stream_name: str, network: str, recipe: Recipe) -> None:
    """Networks of five tasks, judged by a quarter of each task's training rows."""
    stream = load(stream_name, random_state=100)
    shares = []
    began = time.process_time()
    for name in stream.names[:5]:
        task = stream.named(name)
        rows = np.random.default_rng(0).permutation(500)
        known = rows[:375]
        held = rows[375:]
        model = NetworkClassifier(network, recipe=recipe, random_state=0)
        model.fit(task.X_train[known], task.y_train[known])
        shares.append(model.score(task.X_train[held], task.y_train[held]))
    print(f"{what}: {np.mean(shares):.3f} of rows right, {time.process_time() - began:.0f} s")


def sizes() -> None:
    """What larger boosted trees cost and bring, on the table of ``fitting_tables``."""
    rng = np.random.default_rng(0)
    learnt = drawn(rng, 100, 200)
    asked = drawn(rng, 100, 100, learnt.levels)
    every = boosted.SIZES, boosted.FIRST_SIZE
    eight = every[0][every[1] :][:1], 0
    sides = {"8 leaves": eight, "the search": every}
    model = LifelongClassifier(random_state=0)
    model.fit(learnt.X, learnt.y, task=learnt.tasks)  # compiles
    for name, (boosted.SIZES, boosted.FIRST_SIZE) in sides.items():
        seconds = timed(partial(model.fit, learnt.X, learnt.y, task=learnt.tasks))["CPU s"]
        answers = model.predict_proba(asked.X, task=asked.tasks)
        accuracy = np.mean((answers[:, 1] > 0.5) == asked.y)
        print(f"{name}: {seconds:.1f} s, log-loss {log_loss(asked.y, answers):.3f}, {accuracy:.3f}")


TRIALS = {
    trial.__name__: trial
    for trial in (
        walk,
        sums,
        sizes,
        training,
        halves,
        narrow,
        faults,
        pools,
        together,
        ridge,
        chunks,
        neighbours,
        batches,
        precision,
    )
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "trials", nargs="*", choices=[*TRIALS, []], metavar="trial", help=", ".join(TRIALS)
    )
    torch.set_num_threads(1)
    for name in parser.parse_args().trials or TRIALS:
        TRIALS[name]()
