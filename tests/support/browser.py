"""The report in a browser: Chromium, a page with all that it asked for, and what is read off it."""

import os
import shutil

import numpy as np
import pytest

EVIL = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


def find_browser():
    found = os.environ.get("ELLZERO_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "no Chromium on the path: install it, or name its executable in ELLZERO_CHROMIUM"
        )
    return found


class Shown:
    """A page in the browser, and everything that it asked for or complained about."""

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(offline=True, **options)
        self.page = self.context.new_page()
        self.address, self.requests, self.complaints = address, [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(address)

    def close(self):
        """Whatever was done with the page, it loaded nothing and nothing went wrong."""
        assert self.page.evaluate("window.hacked") is None
        self.context.close()
        assert [url for url in self.requests if not url.startswith("data:")] == [self.address]
        assert self.complaints == []

    def text(self, selector):
        return self.page.locator(selector).inner_text().replace("\u00a0", " ")

    def value(self):
        return int(self.page.locator("#size").input_value())

    def rows(self, table):
        """The cells of a table's body."""
        return [row.locator("th, td").all_inner_texts() for row in self.page.locator(f"{table} tbody tr").all()]

    def overflow(self):
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def parsed(text):
    return float(text.replace("\u2212", "-").replace(",", "").replace("%", ""))


def luminance(colour):
    """Relative luminance of rgb(...), as the web's contrast guidelines define it."""
    parts = [float(part) / 255.0 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
