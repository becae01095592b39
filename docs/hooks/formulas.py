"""Formulas become SVG when the site is built: no script, no font and no network in the reader's browser."""

import html
import re

import ziamath

# What pymdownx.arithmatex leaves behind in generic mode.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
SYMBOL = re.compile(r'<symbol id="([^"]+)"[^>]*?(?:/>|>.*?</symbol>)', re.DOTALL)
BOX = re.compile(r'viewBox="([^"]*)"')
SIZE = re.compile(r'<svg(?= )(?: xmlns="[^"]*")? width="[^"]*" height="[^"]*"')
DRAWN, SHOWN = 20.0, 1.1  # the size of the drawing, and that of its text by the text around it
EM = DRAWN / SHOWN

ziamath.config.precision = 2


def on_page_content(content, **_):
    """Replace every formula of a page; each glyph is drawn once a page."""
    seen = set()

    def once(match):
        if match[1] in seen:
            return ""
        seen.add(match[1])
        return match[0]

    def draw(match):
        tag, inline, latex = match[1], match[2] == "(", html.unescape(match[3]).strip()
        svg = ziamath.Latex(latex, size=DRAWN, inline=inline).svg()
        _, top, width, height = map(float, BOX.search(svg)[1].split())
        shift = f"vertical-align: {-(top + height) / EM:.3f}em; " if inline else ""  # the baseline is at zero
        style = f"{shift}width: {width / EM:.3f}em; height: {height / EM:.3f}em"
        opening = f'<svg role="img" aria-label="{html.escape(latex, quote=True)}" style="{style}"'
        svg = SIZE.sub(lambda _: opening, svg, count=1)
        svg = SYMBOL.sub(once, svg).replace('"black"', '"currentColor"')
        return f'<{tag} class="formula">{svg}</{tag}>'

    return FORMULA.sub(draw, content)
