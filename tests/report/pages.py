"""A real browser for report pages: Chromium without a window, no driver needed."""

import json
import os
import re
import shutil
import subprocess
from html import unescape

import pytest

FLAGS = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--hide-scrollbars",
    ),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
    ),
)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def needs_chromium():
    """Skip on a machine without Chromium, but never in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(
                "Chromium is not installed, and tests in a real browser are never skipped in CI."
            )
        pytest.skip("needs Chromium: apt-get install chromium")


def browse(page, scratch, *, script="", width=1200, height=900, dark=False, screenshot=None):
    """Open a page; what ``script`` (a function body) returns, and what the browser complained
    about.

    The page is a copy with the script added at its end, which leaves its result in the page's
    title.
    """
    probe = (
        f"<script>document.title = JSON.stringify((() => {{ {script or 'return null'}"
        " })());</script>"
    )
    copy = scratch / f"probe-{os.getpid()}-{len(list(scratch.iterdir()))}.html"
    copy.write_text(
        page.read_text(encoding="utf-8").replace("</body>", f"{probe}</body>"), encoding="utf-8"
    )
    # 0 is dark, 1 is light
    options = [
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        f"--window-size={width},{height}",
    ]
    options += [f"--screenshot={screenshot}"] if screenshot else ["--dump-dom"]
    profile = scratch / f"profile-{copy.stem}"
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *options, copy.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    title = re.search(r"<title>(.*?)</title>", done.stdout, flags=re.DOTALL)
    return (json.loads(unescape(title[1])) if title else None), complaints
