"""The documentation site: `make docs` builds it into build/docs, and every warning is an error.

Pages are plain Markdown that reads on a code host as well. What only a site needs is added here
while it is built: the navigation, and docstrings in place of the comments ``<!-- api: lifelong.Task
-->``.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import lifelong

HERE = Path(__file__).parent
project, author, release = "lifelong", "The lifelong developers", lifelong.__version__
project_copyright = "the lifelong developers, MIT licence"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["results/**/*.md"]
suppress_warnings = ["misc.highlighting_failure"]  # a formula in an indented block is not Python
highlight_language = "none"
myst_heading_anchors = 3  # a link to page.md#heading is checked
myst_links_external_new_tab = True
html_theme, html_title, html_static_path, html_css_files = (
    "furo",
    "lifelong",
    ["_static"],
    ["site.css"],
)
html_show_sphinx = html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. ", True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what may be given
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "inherited-members": True}
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as a list
python_maximum_signature_line_length = 100

NAVIGATION = {  # a page that is not there (yet) is left out
    "Start": ["quickstart", "concepts", "examples/README"],
    "How to": [
        *(
            "my-data",
            "reliability",
            "deploy",
            "exchange",
            "federated",
            "pretrained",
            "unknown-task",
            "growing-tasks",
        ),
        *("scale", "extend", "datasets", "cli"),
    ],
    "Findings": [
        "experiments/README",
        "claims",
        "channels",
        "references",
        "performance",
        "performance-table",
        "comparison",
    ],
    "Look up": ["architecture", "privacy", "api/README"],
}
ORDER = {
    "api": ["learners", "parts", "tasks", "evaluation", "files", "testing", "scale", "errors"],
    "examples": ["speakers", "sites", "images", "texts", "years"],
}


def _toctree(pages: list[str], caption: str = "") -> str:
    titled = f":caption: {caption}\n" if caption else ""
    return "\n".join(["", "```{toctree}", ":hidden:", titled, *pages, "```", ""])


def _navigation(docname: str) -> str:
    """The pages below this one."""
    if docname == "index":
        there = {
            part: [page for page in pages if (HERE / f"{page}.md").exists()]
            for part, pages in NAVIGATION.items()
        }
        return "".join(_toctree(pages, part) for part, pages in there.items())
    if docname.endswith("/README"):
        folder = (HERE / docname).parent
        pages = [page.stem for page in sorted(folder.glob("*.md")) if page.stem != "README"]
        first = [page for page in ORDER.get(folder.name, []) if page in pages]
        return _toctree([*first, *(page for page in pages if page not in first)])
    return ""


def _docstrings(match: re.Match[str]) -> str:
    """``api: lifelong.Task members=classes`` → the class or function with its docstring; more words
    are options.
    """
    name, *options = match[1].split()
    module, _, attribute = name.rpartition(".")
    thing = getattr(import_module(module), attribute)
    kind = "autoclass" if isinstance(thing, type) else "autofunction"
    lines = [
        f"   :{key}: {value}" for key, _, value in (option.partition("=") for option in options)
    ]
    return "\n".join(["```{eval-rst}", f".. {kind}:: {name}", *lines, "```"])


def _complete(_: Any, docname: str, source: list[str]) -> None:
    text = re.sub(r"<!-- api: (.+?) -->", _docstrings, source[0])
    # A folder of results can be opened on a code host but not on a site: the link goes to its
    # table.
    text = re.sub(r"\]\((\.\./results/[a-z0-9-]+)\)", r"](\1/table.csv)", text)
    source[0] = text + _navigation(docname)


def _skip(_: Any, _what: str, _name: str, thing: Any, skip: bool, _options: Any) -> bool:
    """scikit-learn's own methods are documented there, Python's at home."""
    home = getattr(getattr(thing, "fget", thing), "__module__", None) or ""
    return skip or not home.startswith("lifelong")


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("source-read", _complete)
    app.connect("autodoc-skip-member", _skip)
