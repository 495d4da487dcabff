"""Pages are right: links lead somewhere, code runs, errors name pages that exist, and every public
name is explained.

`make docs` builds the site with warnings as errors; these tests need no site.
"""

import doctest
import re
import tomllib
import unicodedata
from pathlib import Path

import pytest

import lifelong
from lifelong import exceptions
from lifelong.cli import app
from lifelong.evaluation import ErrorTable
from lifelong.exceptions import InputError, LifelongError, MissingExtraError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
RUN = [page for page in DOCS.rglob("*.md") if ">>> " in page.read_text(encoding="utf-8")]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(page):
    return str(page.relative_to(ROOT))


def anchors_of(page):
    """The anchors that a code host makes of headings."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {_anchor(title) for title in titles}


def _anchor(title):
    kept = [c for c in title.strip().lower() if c in " -_" or unicodedata.category(c)[0] in "LN"]
    return "".join(kept).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    wrong = []
    for link in LINK.findall(text):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_code_of_a_page_runs_and_prints_what_it_says(page):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert (
        doctest.testfile(
            str(page), module_relative=False, optionflags=options, encoding="utf-8"
        ).failed
        == 0
    )


def test_pages_that_errors_name_exist():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'\bsee="([^"{]+)"', source))
    assert len(named) >= 7
    assert [page for page in sorted(named) if not (DOCS / f"{page}.md").is_file()] == []


def test_errors_and_the_package_link_to_the_same_documentation():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Documentation"] == f"{exceptions.DOCUMENTATION}/"


def test_pages_say_how_many_rows_a_ridge_channel_keeps():
    from lifelong.channels.ridge.settings import DEFAULT

    page = (DOCS / "privacy.md").read_text(encoding="utf-8")
    text = page.replace("10 000", "10000")
    assert (
        f"up to {DEFAULT.max_rows} rows per task and encoder ({DEFAULT.max_own_rows} by the task's"
        " own)" in text
    )


def test_every_attribute_of_an_error_table_that_a_page_names_exists():
    for page in PAGES:
        for name in re.findall(r"`ErrorTable\.(\w+)", page.read_text(encoding="utf-8")):
            assert hasattr(ErrorTable, name), (name_of(page), name)


@pytest.mark.parametrize("kind", [LifelongError, InputError, MissingExtraError])
def test_an_error_ends_with_its_page_and_survives_a_pickle(kind):
    import pickle

    error = kind("X holds text.", see="my-data")
    assert str(error) == "X holds text. See https://lifelong.readthedocs.io/en/latest/my-data.html"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - ours, a moment old
    assert str(kind("X holds text.")) == "X holds text."


def test_every_public_name_is_on_a_page_of_the_api():
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    assert [
        name
        for name in lifelong.__all__
        if f"lifelong.{name}" not in pages and f"[{name}]" not in pages
    ] == []


def test_every_error_is_on_the_page_about_errors():
    page = (DOCS / "api" / "errors.md").read_text(encoding="utf-8")
    kinds = {name: one for name, one in vars(exceptions).items() if isinstance(one, type)}
    errors = [name for name, one in kinds.items() if issubclass(one, LifelongError)]
    assert len(errors) > 5
    assert [name for name in errors if name not in page] == []


def test_every_command_is_on_the_page_of_the_command_line():
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    commands = [command.name for command in app.registered_commands] + [
        group.name for group in app.registered_groups
    ]
    assert [name for name in commands if f"`lifelong {name}" not in page] == []
