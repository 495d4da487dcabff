"""Two tasks that help each other, and two that do not: forward and backward transfer on Gaussian
XOR.

    python examples/xor_transfer.py --repetitions 100 --out docs/images

XNOR has XOR's boundary, so each should help the other; R-XOR is turned by 45° and can only disturb.
750 training rows per task, 1000 test rows, new rows in every repetition. Networks have two hidden
layers of 10 (30 epochs, Adam 3e-3).
"""

import argparse
from functools import partial
from pathlib import Path

from rich.console import Console

from lifelong import ErrorTable, Learner, SillyForest, SillyNetwork, TaskStream, evaluate
from lifelong.report.figures import draw_data, draw_transfer, write
from lifelong.report.tables import summary_table
from lifelong.tasks.simulations import xor_stream


def forest(seed: int) -> Learner:
    return SillyForest(random_state=seed)


def network(seed: int) -> Learner:
    return SillyNetwork((10, 10), epochs=30, lr=3e-3, random_state=seed)


def stream(second: str, seed: int) -> TaskStream:
    return xor_stream(750, second=second, random_state=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("lifelong-xor"))
    arguments = parser.parse_args()

    measured: dict[str, list[ErrorTable]] = {}
    for title, second in {"XOR → XNOR": "xnor", "XOR → R-XOR": "r-xor"}.items():
        measured[title] = [
            evaluate(
                make,
                partial(stream, second),
                arguments.repetitions,
                n_jobs=arguments.n_jobs,
                name=name,
            )
            for name, make in {"silly-f": forest, "silly-n": network}.items()
        ]
        Console().print(
            summary_table(f"{title} ({arguments.repetitions} repetitions)", measured[title]), ""
        )
        for table in measured[title]:
            print(
                f"{table.learner}: forward transfer to {second} {table.forward_transfer[1]:+.3f},",
                end=" ",
            )
            print(f"backward transfer to xor {table.backward_transfer[0]:+.3f}")
        print()
    arguments.out.mkdir(parents=True, exist_ok=True)
    write(draw_data([stream("xnor", 0), stream("r-xor", 0)]), arguments.out / "xor-data")
    write(draw_transfer(measured), arguments.out / "xor-transfer")
    print(f"Figures in {arguments.out}")


if __name__ == "__main__":
    main()
