"""``lifelong data``: what it prints, what it writes, and how it ends."""

import pytest
from PIL import Image
from typer.testing import CliRunner

from lifelong.cli import app

run = CliRunner().invoke


def test_list_shows_every_dataset_and_which_are_present(tmp_path):
    result = run(app, ["data", "list", "--data-dir", str(tmp_path)])
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.output.splitlines() if line.strip()}
    assert lines["cifar-10x10"].split()[1:5] == ["10", "100", "60,000", "3×32×32"]
    assert lines["cifar-10x10"].endswith("no") or lines["cifar-10x10"].rstrip().endswith("no")
    assert "CC BY-SA 4.0" in lines["spoken-digit"]
    assert lines["digits"].rstrip().endswith("yes")


@pytest.mark.data
def test_check_reports_a_subset_as_a_subset():
    result = run(app, ["data", "check", "cifar-10x10"])
    assert result.exit_code == 0, result.output
    assert "a subset: 10,000 of 50,000" in result.output
    assert "complete: 10,000" in result.output
    assert "not the official file" in result.output
    assert "complete: 3,000" in run(app, ["data", "check", "spoken-digit"]).output


@pytest.mark.data
def test_check_without_a_name_checks_all_that_are_present():
    result = run(app, ["data", "check"])
    assert result.exit_code == 0, result.output
    for source in (
        "fsdd",
        "cifar-100",
        "mnist",
        "svhn",
        "notmnist",
        "fashion-mnist",
        "mini-imagenet",
    ):
        assert source in result.output


def test_what_is_missing_or_unknown_ends_with_one_line(tmp_path):
    for arguments, problem in (
        (["check", "cifar-10x10"], "cifar-100 is not in"),
        (["show", "core50-110x5"], "core50 is not in"),
        (["fetch", "mini-imagenet-20x5"], "mini-imagenet cannot be downloaded"),
        (
            ["check", "imagenet"],
            "dataset='imagenet' is unknown. Did you mean 'mini-imagenet-20x5'? Choose",
        ),
    ):
        result = run(app, ["data", *arguments, "--data-dir", str(tmp_path)])
        assert result.exit_code == 1
        assert problem in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_check_of_a_damaged_dataset_fails(tmp_path):
    (tmp_path / "cifar-100-binary").mkdir()
    for name in ("train.bin", "test.bin"):
        (tmp_path / "cifar-100-binary" / name).write_bytes(b"too short")
    result = run(app, ["data", "check", "cifar-10x10", "--data-dir", str(tmp_path)])
    assert result.exit_code == 1
    assert "train.bin: 9 bytes" in result.stderr


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("spoken-digit", 6),
        ("cifar-10x10", 10),
        ("five-datasets", 5),
        ("mini-imagenet-20x5", 20),
        ("tabular-cifar", 10),
    ],
)
def test_show_writes_a_contact_sheet_with_a_row_per_task(name, tasks, tmp_path):
    result = run(
        app, ["data", "show", name, "--columns", "5", "--out", str(tmp_path / "sheet.png")]
    )
    assert result.exit_code == 0, result.output
    with Image.open(tmp_path / "sheet.png") as sheet:
        side = 84 if name.startswith("mini") else 28 if name == "spoken-digit" else 32
        assert sheet.size == (110 + 5 * (side + 2), tasks * (side + 2))
        assert len(set(sheet.convert("L").crop((110, 0, *sheet.size)).tobytes())) > 50


def test_show_lists_the_tasks_of_a_table(tmp_path):
    rows = "".join(f"{site},{n % 2},{n}\n" for site in ("north", "south") for n in range(8))
    (tmp_path / "table.csv").write_text("site,ill,age\n" + rows)
    result = run(
        app,
        [
            "data",
            "show",
            str(tmp_path / "table.csv"),
            "--task-column",
            "site",
            "--label-column",
            "ill",
        ],
    )
    assert result.exit_code == 0, result.output
    assert [line.split() for line in result.output.splitlines()[1:]] == [
        ["north", "6", "2", "0,", "1"],
        ["south", "6", "2", "0,", "1"],
    ]
