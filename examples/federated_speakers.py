"""Six sites = six speakers of the Free Spoken Digit Dataset: what does each gain from the others'
encoders?

    export LIFELONG_DATA=folder
    # real processes on loopback, TLS
    python examples/federated_speakers.py
    # Flower's simulation, which needs Ray
    python examples/federated_speakers.py --via simulation
    # function calls: no Flower needed
    python examples/federated_speakers.py --via nothing
    # seconds
    python examples/federated_speakers.py --via nothing --trees 10 --rows-per-class 5
    # made-up speakers: no data needed
    python examples/federated_speakers.py --via nothing --smoke

Every site learns the ten digits from its own recordings and saves its learner in a folder of its
own. Then encoders are exchanged, and each site's learner is asked about recordings that nobody has
learnt from, before and after. Some training rows of every site are marked: no two of their numbers
stand together anywhere else. They are searched for in everything that went over the wire.
"""

import argparse
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from federated_loopback import federation
from federated_wiretap import Wiretap, numbers_found
from lifelong import SillyForest, Task, load, save
from lifelong.federated import Hub, Reply, Request, Site
from lifelong.tasks.datasets import load as load_dataset

Wire = dict[str, tuple[bytes, bytes]]  # by site: what it sent, what it received
MARKED = 5  # rows per site


def speakers(rows_per_class: int | None, seed: int) -> list[Task]:
    """One task per speaker."""
    return list(load_dataset("spoken-digit", rows_per_class=rows_per_class, random_state=seed))


def made_up_speakers(seed: int) -> list[Task]:
    """Three speakers of four digits: the same means, each speaker a little off."""
    rng = np.random.default_rng(seed)
    digits = rng.normal(size=(4, 16))
    tasks = []
    for name in ("ann", "bob", "cem"):
        means = digits + 0.3 * rng.normal(size=16)
        y = np.arange(40) % 4
        X = [means[y] + 0.9 * rng.normal(size=(40, 16)) for _ in range(2)]
        tasks.append(Task(name, X[0], y, X[1], y))
    return tasks


def marked(task: Task, seed: int) -> Task:
    """The first rows a thousandth off, so that their numbers are their own."""
    X = task.X_train.copy()
    X[:MARKED] += (
        np.random.default_rng(seed).uniform(1e-4, 1e-3, X[:MARKED].shape).astype(np.float32)
    )
    return Task(task.name, X, task.y_train, task.X_test, task.y_test)


def learner_of(task: Task, trees: int, seed: int) -> SillyForest:
    """What a site does by itself, with its own rows."""
    learner = SillyForest(trees, channel="ridge", random_state=seed)
    return learner.partial_fit(task.X_train, task.y_train, task="digits")


def via_nothing(folder: Path, names: list[str]) -> Wire:
    """Function calls in one process."""
    hub = Hub()
    sites = [Site(name, folder / name) for name in names]
    wire: dict[str, tuple[bytes, bytes]] = dict.fromkeys(names, (b"", b""))
    for _ in range(2):
        for node, site in enumerate(sites):
            request = hub.request(node)
            reply = site.answer(request)
            hub.receive(node, reply)
            up, down = wire[site.name]
            wire[site.name] = up + content_of(reply), down + content_of(request)
    return wire


def content_of(message: Request | Reply) -> bytes:
    return b"".join(name.encode() + content for name, content in message.encoders.items())


def via_processes(folder: Path, names: list[str]) -> Wire:
    """flower-superlink, one flower-supernode per site, a wiretap before each."""
    with federation(folder.parent / "flower") as flower, ExitStack() as taps:
        flower.start_server()
        tapped = {name: Wiretap(flower.folder, flower.port) for name in names}
        for name, tap in tapped.items():
            taps.callback(tap.close)
            flower.start_site(name, folder / name, port=tap.port)
        print(said(flower.run(f"sites={len(names)} wait=300")))
    asked = {
        path.decode()
        for tap in tapped.values()
        for path in re.findall(rb"[A-Z]+ (/\S*) HTTP/1\.1\r\n", tap.up)
    }
    print(f"sites asked for {', '.join(sorted(asked))}")
    return {name: (bytes(tap.up), bytes(tap.down)) for name, tap in tapped.items()}


def via_simulation(folder: Path, names: list[str]) -> Wire:
    """Flower's simulation; there is no wire to tap."""
    with federation(folder.parent / "flower") as flower:
        flower.start_server(simulation=True)
        settings = f'sites={len(names)} wait=300 simulated-sites="{folder}"'
        print(said(flower.run(settings, simulated_sites=len(names))))
    return {}


def said(output: str) -> str:
    """Our lines of a log."""
    return "\n".join(
        line[line.index("lifelong: ") :] for line in output.splitlines() if "lifelong: " in line
    )


VIA: dict[str, Callable[[Path, list[str]], Wire]] = {
    "processes": via_processes,
    "simulation": via_simulation,
    "nothing": via_nothing,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--via", choices=list(VIA), default="processes")
    parser.add_argument("--trees", type=int, default=60, help="per site")
    parser.add_argument(
        "--rows-per-class", type=int, help="at most so many training rows per digit"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="which recordings to learn from, and how trees grow"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="three made-up speakers, 10 trees each"
    )
    chosen = parser.parse_args()

    if chosen.smoke:
        found = made_up_speakers(chosen.seed)
    else:
        found = speakers(chosen.rows_per_class, chosen.seed)
    if chosen.smoke:
        trees = 10
    else:
        trees = chosen.trees
    tasks = [marked(task, number) for number, task in enumerate(found)]
    started = time.monotonic()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "sites"
        for task in tasks:
            save(learner_of(task, trees, chosen.seed), folder / str(task.name))
        alone = [score(folder, task) for task in tasks]
        wire = VIA[chosen.via](folder, [str(task.name) for task in tasks])
        after = [score(folder, task) for task in tasks]
        # As many trees as a site has after the exchange, all from its own rows: is it the others,
        # or just more trees?
        more = [
            learner_of(task, trees * len(tasks), chosen.seed).score(
                task.X_test, task.y_test, task="digits"
            )
            for task in tasks
        ]
    show(tasks, alone, more, after, wire)
    print(f"{time.monotonic() - started:.0f} s")


def score(folder: Path, task: Task) -> float:
    return float(load(folder / str(task.name)).score(task.X_test, task.y_test, task="digits"))


def show(
    tasks: list[Task], alone: list[float], more: list[float], after: list[float], wire: Wire
) -> None:
    titles = (
        ("rows", 5),
        ("alone", 7),
        ("more trees", 11),
        ("exchange", 9),
        ("gain", 7),
        ("sent", 10),
        ("received", 10),
    )
    print(f"{'site':10} " + " ".join(f"{title:>{width}}" for title, width in titles))
    for task, a, m, b in zip(tasks, alone, more, after, strict=True):
        up, down = wire.get(str(task.name), (b"", b""))
        if wire:
            sizes = f"{len(up):10,} {len(down):10,}"
        else:
            sizes = f"{'-':>10} {'-':>10}"
        print(
            f"{task.name:10} {len(task.X_train):5} {a:7.3f} {m:11.3f} {b:9.3f} {b - a:+7.3f}"
            f" {sizes}"
        )
    gain = np.subtract(after, alone)
    print(
        f"{'mean':10} {'':5} {np.mean(alone):7.3f} {np.mean(more):11.3f} {np.mean(after):9.3f}"
        f" {gain.mean():+7.3f}"
    )
    if wire:
        rows = np.concatenate([task.X_train[:MARKED] for task in tasks])
        content = b"".join(message for parts in wire.values() for message in parts)
        pairs = len(rows) * (rows[0].size - 1)
        found = numbers_found(rows, content)
        put_in = numbers_found(rows, content + rows.tobytes())
        print(
            f"marked rows: {found} of {pairs:,} pairs of numbers in {len(content):,} bytes;"
            f" {put_in:,} if the rows are put in"
        )


if __name__ == "__main__":
    main()
