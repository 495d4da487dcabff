"""As many labels come out of ``lifelong predict`` as rows go in, or an error."""

import csv
import io
import math

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from lifelong import SillyForest, save
from lifelong.cli import app
from lifelong.cli.headers import Header, read_header

ROWS = "0.5,1,2\n3,4,5\n6,7,8\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Learners of one, two and three columns, and one that knows names of columns."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    for width in (1, 2, 3):
        X = rng.normal(size=(40, width)).astype(np.float32)
        learner = SillyForest(2, random_state=0).fit(X, X[:, 0] > 0)
        save(learner, folder / str(width))
    frame = pandas.DataFrame(rng.normal(size=(40, 3)), columns=["age", "2020", " size"])
    learner = SillyForest(2, random_state=0).fit(frame, frame["age"] > 0)
    save(learner, folder / "named")
    return folder


def predict(model, content, *options):
    if isinstance(content, str):
        content = content.encode()
    arguments = ["predict", str(model), "--input", "-", *options]
    return CliRunner().invoke(app, arguments, input=content)


def n_labels(done):
    assert done.exit_code == 0, done.output
    return len(list(csv.reader(io.StringIO(done.stdout)))) - 1


def is_clear_error(done):
    one_line = done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    return done.exit_code == 1 and one_line


CELLS = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        ["", " ", "NA", "n/a", "NaN", "null", "None", "True", "1,0", "1;0", "a\0", "\0", "#REF!"]
    ),
    st.sampled_from(["age", "größe", "size (cm)", "_1", "x1", '"', "a\nb", " b "]),
)


@st.composite
def tables(draw):
    """A CSV of any cells, with or without a header, a mark, quotes and empty lines at its end."""
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=4))
    text = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    csv.writer(text, quoting=quoting, lineterminator=end).writerows(rows)
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return width, rows, mark + (text.getvalue() + draw(st.sampled_from(["", end]))).encode()


@given(table=tables(), header=st.sampled_from(list(Header)))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_as_many_labels_as_rows_or_an_error(table, header, models):
    width, rows, content = table
    done = predict(models / str(width), content, "--header", header)
    if done.exit_code:
        assert is_clear_error(done), done.output
        return
    names = rows[0] if header == "yes" else None
    if header == "auto" and not all(map(number, rows[0])):
        names = rows[0]
        # Nobody could take these cells for a row's.
        assert all(name.strip()[:1].isalpha() or name.strip()[:1] == "_" for name in names)
    assert n_labels(done) == len(rows) - (names is not None)


def number(cell):
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


@pytest.mark.parametrize("option", [(), ("--header", "auto")], ids=["by default", "auto"])
@pytest.mark.parametrize(
    "first",
    [
        *("0,1,2", ",1,2", "NA,1,2", "1,2,NA", "NA,NA,NA", '"1,0",1,2', "1\0,1,2", "1,2,x"),
        *("a,b,3", "a,,c", "a,b,b", "NaN,None,null", "-,?,.", "a,b,c\0", "#1,#2,#3", "1_a,2_b,3"),
    ],
)
def test_a_first_line_that_could_be_either_is_an_error(first, option, models):
    assert is_clear_error(predict(models / "3", f"{first}\n{ROWS}", *option))


@pytest.mark.parametrize("first", ["0,1,2", "a,,c", "NA,x,2", "1_a,2_b,3_c"])
def test_yes_takes_the_first_line_for_names_whatever_it_holds(first, models):
    assert n_labels(predict(models / "3", f"{first}\n{ROWS}", "--header", "yes")) == 3


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3"])
def test_no_takes_the_first_line_for_a_row(first, models):
    assert n_labels(predict(models / "3", f"{first}\n{ROWS}", "--header", "no")) == 4
    assert is_clear_error(predict(models / "3", f"a,b,c\n{ROWS}", "--header", "no"))


@pytest.mark.parametrize("write_index", [True, False])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_what_pandas_writes_never_shifts_the_labels(width, write_index, models):
    text = pandas.DataFrame(np.ones((5, width))).to_csv(index=write_index)
    assert is_clear_error(predict(models / str(width), text))
    if not write_index:
        assert n_labels(predict(models / str(width), text, "--header", "yes")) == 5


@pytest.mark.parametrize(
    ("encoding", "right"),
    [("utf-8", True), ("utf-8-sig", True), ("latin-1", False), ("utf-16", False)],
)
@pytest.mark.parametrize("first", ["größe,b,c\n", ""])
def test_a_pipe_is_utf_8_with_or_without_a_mark_or_an_error(encoding, right, first, models):
    done = predict(models / "3", (first + ROWS).encode(encoding))
    if encoding == "latin-1" and not first:
        right = True  # plain ASCII
    if right:
        assert n_labels(done) == 3
    else:
        assert is_clear_error(done)


def test_names_that_the_learner_knows_make_a_header_even_if_they_are_numbers(models):
    shuffled = "2020,age, size\n1,2,3\n4,5,6\n"
    assert n_labels(predict(models / "named", shuffled)) == 2
    assert n_labels(predict(models / "named", "1,2,3\n4,5,6\n")) == 2
    assert is_clear_error(predict(models / "named", "2020,age,weight\n1,2,3\n"))


@pytest.mark.parametrize("content", ["1,2,3\n\n4,5,6\n", "\n1,2,3\n", "a,b,c\n\n1,2,3\n"])
def test_an_empty_line_among_rows_is_an_error(content, models):
    assert is_clear_error(predict(models / "3", content))


def test_an_empty_line_of_a_single_column_is_a_lost_row(models):
    assert is_clear_error(predict(models / "1", "x\n1.5\n\n2.5\n"))
    assert is_clear_error(predict(models / "1", 'x\n1.5\n""\n2.5\n'))


@pytest.mark.parametrize("header", list(Header))
def test_no_column_may_come_twice(header, tmp_path):
    if header == Header.NO:
        assert read_header(["a", "a"], header, None, tmp_path) is None
        return
    with pytest.raises(ValueError, match="more than one column 'a'"):
        read_header(["a", "b", " a"], header, None, tmp_path)
