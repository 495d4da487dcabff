"""A saved learner over HTTP: the answers of Python, sentences for mistakes, newer versions."""

import json
import socket
import subprocess
import threading
from http.client import HTTPConnection

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lifelong import LifelongClassifier, LifelongRegressor, SillyForest, load, save
from lifelong.cli import app
from lifelong.serving import server as serving
from lifelong.serving.server import LearnerServer
from report.pages import CHROMIUM, FLAGS, needs_chromium

SCRIPT = "<script>x()</script>"


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=n).round(3)
    frame = pd.DataFrame({"site": rng.choice(["Lyon", SCRIPT], n), "dose": dose})
    frame["pain"] = rng.choice(["none", "much"], n)
    frame["ill"] = np.where(dose > 0, "yes", "no")
    return frame.assign(days=(dose * 3).round(2))


INPUTS = ["site", "dose", "pain"]


def taught(kind, frame):
    parameters = {"task_column": "site", "n_estimators": 5, "random_state": 0}
    if kind == "numbers":
        return LifelongRegressor(**parameters).fit(frame[INPUTS], frame.days)
    return LifelongClassifier(**parameters).fit(frame[INPUTS], frame.ill)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for kind in ("classes", "numbers"):
        save(taught(kind, rows()), folder / kind)
    forest = SillyForest(n_estimators=3, random_state=0)
    forest.partial_fit([[0.0, 1.0], [1.0, 0.0]] * 5, ["no", "yes"] * 5, task="a")
    save(forest, folder / "silly")
    return folder


class Client:
    """Asks a server that runs in a thread."""

    def __init__(self, directory):
        self.server = LearnerServer(directory, "127.0.0.1", 0)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def ask(self, path="/predict", body=None, method=None, **headers):
        connection = HTTPConnection(*self.server.server_address, timeout=20)
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        verb = method or ("GET" if body is None else "POST")
        connection.request(verb, path, content, headers)
        response = connection.getresponse()
        found = response.read()
        connection.close()
        if response.headers["Content-Type"] == "application/json":
            return response.status, json.loads(found)
        return response.status, found.decode()


@pytest.fixture(scope="module")
def classes(folder):
    with Client(folder / "classes") as client:
        yield client


@pytest.fixture(scope="module")
def numbers(folder):
    with Client(folder / "numbers") as client:
        yield client


def records(frame):
    return json.loads(frame[INPUTS].to_json(orient="records"))


def test_labels_and_probabilities_are_those_of_python(classes, folder):
    new = rows(20, seed=1)
    model = load(folder / "classes")
    status, found = classes.ask(body={"rows": records(new)})
    assert status == 200
    assert [one["label"] for one in found["answers"]] == model.predict(new[INPUTS]).tolist()
    given = [[share["p"] for share in one["probabilities"]] for one in found["answers"]]
    np.testing.assert_array_equal(given, model.predict_proba(new[INPUTS]))
    assert classes.ask(body=records(new)) == (200, found)  # rows alone


def test_numbers_and_intervals_are_those_of_python(numbers, folder):
    new = rows(20, seed=1)
    model = load(folder / "numbers")
    _, found = numbers.ask(body={"rows": records(new), "interval": 0.9})
    given = [[one[name] for name in ("prediction", "lower", "upper")] for one in found["answers"]]
    np.testing.assert_array_equal(given, model.predict(new[INPUTS], interval=0.9))
    _, found = numbers.ask(body=records(new))
    assert [set(one) for one in found["answers"]] == [{"prediction"}] * 20


def test_a_row_without_a_column_misses_it_and_an_unseen_task_is_answered(classes):
    status, found = classes.ask(body=[{"site": "Rome", "dose": 2.0}, {"site": "Lyon"}])
    assert status == 200
    assert len(found["answers"]) == 2


def test_the_model_describes_itself(classes, numbers):
    _, about = classes.ask("/model")
    assert about["model"] == "LifelongClassifier"
    assert about["classes"] == ["no", "yes"]
    assert about["task_column"] == "site"
    assert [column["name"] for column in about["columns"]] == ["dose", "pain"]
    assert {task["task"] for task in about["tasks"]} == {"Lyon", SCRIPT}
    assert numbers.ask("/model")[1]["target"] == "number"


def test_a_learner_of_the_paper_answers_lists_of_numbers(folder):
    with Client(folder / "silly") as client:
        assert client.ask("/model")[1]["row_shape"] == [2]
        status, found = client.ask(body={"rows": [[0.0, 1.0], [1.0, 0.0]], "task": "a"})
        assert status == 200
        assert [one["label"] for one in found["answers"]] == ["no", "yes"]
        for wrong in ([[0.0]], [["a", "b"]], [[0.0, 1.0], [1.0]], [{"x": 1}]):
            assert client.ask(body={"rows": wrong, "task": "a"})[0] == 422


ROW = {"site": "Lyon", "dose": 1.0, "pain": "none"}
MISTAKES = {
    "no JSON": (b"{", "not JSON"),
    "not UTF-8": (b"\xff\xfe", "not JSON"),
    "NaN": (b'[{"site": "Lyon", "dose": NaN}]', "NaN is no number of JSON"),
    "a key twice": (b'[{"site": "Lyon", "dose": 1, "dose": 2}]', "'dose' is there twice"),
    "very deep": (b"[" * 100_000, "not JSON"),
    "a number": (3, "The request is a int"),
    "no rows": ({"rows": []}, "'rows' is not a list of rows"),
    "another key": ({"row": [ROW]}, "Unknown key 'row'"),
    "lists": ([[1.0, 2.0]], "Row 0 is a list"),
    "a misspelt column": (
        [{"site": "Lyon", "doze": 1.0, "pain": "much"}],
        "Did you mean 'dose'",
    ),
    "no task": ([{"dose": 1.0}], "no task column 'site'"),
    "a task that is missing": ([ROW, {"dose": 1.0}], "'site' is empty in 1 rows (1)"),
    "text in a number column": ([{**ROW, "dose": "much"}], "'dose' holds numbers"),
    "an endless number": (b'[{"site": "Lyon", "dose": 1' + b"0" * 400 + b"}]", "too large"),
    "a list in a cell": ([{**ROW, "dose": [1]}], "'dose' holds a list"),
    "a task in two places": ({"rows": [ROW], "task": "Lyon"}, "Give one of both"),
    "an interval of classes": ({"rows": [ROW], "interval": 0.9}, "'interval' is for numbers"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_a_sentence(classes, what):
    body, message = MISTAKES[what]
    status, found = classes.ask(body=body)
    assert status == 422
    assert message in found["error"]
    assert classes.ask(body=[ROW])[0] == 200  # and the server goes on


@pytest.mark.parametrize("interval", [0, 1.5, "wide", True])
def test_an_interval_is_a_share(numbers, interval):
    status, found = numbers.ask(body={"rows": [ROW], "interval": interval})
    assert status == 422
    assert "interval" in found["error"]


def test_other_places_methods_and_sizes_are_refused(classes, monkeypatch):
    assert classes.ask("/etc/passwd")[0] == 404
    assert "POST /predict" in classes.ask("/nothing")[1]["error"]
    assert classes.ask("/predict")[0] == 405
    assert classes.ask("/model", body=[ROW])[0] == 405
    monkeypatch.setattr(serving, "MOST_BYTES", 10)
    assert classes.ask(body=[ROW])[0] == 413


def test_a_newer_version_answers_from_then_on_and_a_damaged_one_never(folder, tmp_path):
    place = tmp_path / "model"
    save(taught("classes", rows()), place)
    with Client(place) as client:
        assert len(client.ask("/model")[1]["tasks"]) == 2
        model = load(place)
        more = rows(30, seed=2).assign(site="Oslo")
        save(model.partial_fit(more[INPUTS], more.ill), place)
        assert len(client.ask("/model")[1]["tasks"]) == 3
        (place / "manifest.json").write_text("damaged")
        assert len(client.ask("/model")[1]["tasks"]) == 3


def test_many_ask_at_once_and_all_get_the_same(classes):
    found = []

    def ask():
        found.append(classes.ask(body=[ROW]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(one == found[0] for one in found)


def test_the_page_asks_and_shows_names_as_text_in_a_browser(classes, tmp_path, monkeypatch):
    needs_chromium()
    page = serving._page().replace(b"begin();", b"begin().then(ask);")
    monkeypatch.setattr(serving, "_page", lambda: page)
    options = ["--virtual-time-budget=5000", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path}", *options, f"{classes.server.url}/"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "<th>label</th><th>p no</th><th>p yes</th>" in done.stdout
    assert "<td>dose</td><td>number</td>" in done.stdout
    assert "&lt;script&gt;x()&lt;/script&gt;" in done.stdout  # a task's name
    assert done.stdout.count("<script>") == 1
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []


def test_a_port_that_is_taken_or_a_model_that_is_not_there_is_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        save(SillyForest(n_estimators=2, random_state=0).fit([[0.0], [1.0]], [0, 1]), tmp_path)
        done = CliRunner().invoke(app, ["serve", str(tmp_path), "--port", port])
    assert done.exit_code == 1
    assert "--port; 0 finds one that is free" in done.output
    done = CliRunner().invoke(app, ["serve", str(tmp_path / "nothing")])
    assert done.exit_code == 1
    assert "no saved learner" in done.output
