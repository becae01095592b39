"""Docstrings are written for the terminal; here they become what reference pages need.

Cross-references become links. Arguments that are described together are listed one by one, so that each has its own default.
Where an argument or attribute has one line, ``name : what it is``, that line is its description and not its type.
Functions that pass settings on show them with their defaults, as help() does.
"""

import inspect
import re
from importlib import import_module

import griffe

ROLE = re.compile(r":(?:func|class|meth|attr):`~?([\w.]+)`")
HEADING = re.compile(r"(?P<name>[A-Z]\w+)\n(?P<rule>-{3,})\n")
ENTRY = re.compile(r"(?P<names>\S[^:]*?) :(?P<type>[^\n]*)\n(?P<body>(?:(?: .*)?\n)*)")


class Docstrings(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj, **_):
        """Called for everything that was found in the sources."""
        if obj.docstring:
            obj.docstring.value = rewritten(obj.docstring.value)

    def on_function_instance(self, *, func, **_):
        """Called for every function: those that pass settings on get the signature that they have at run time."""
        if any(decorator.callable_path.endswith("passes_on") for decorator in func.decorators):
            function = getattr(import_module(func.module.path), func.name)
            func.parameters = griffe.Parameters(*map(shown, inspect.signature(function).parameters.values()))


def shown(parameter):
    """A parameter as the reference pages show it."""
    kind = griffe.ParameterKind[parameter.kind.name.lower()]
    default = None if parameter.default is parameter.empty else repr(parameter.default)
    return griffe.Parameter(parameter.name, kind=kind, default=default)


def rewritten(text):
    """The docstring with links, and with descriptions in their place."""
    parts = HEADING.split(ROLE.sub(link, text))
    out = [parts[0]]
    for name, rule, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        body = described(body, always=name == "Attributes") if name in ("Parameters", "Attributes") else body
        out.append(f"{name}\n{rule}\n{body}")
    return "".join(out)


def described(body, always):
    """One entry a name; a text without a body is a description, and so is any of an attribute."""

    def entries(match):
        kind, text = match["type"].strip(), match["body"].strip("\n")
        names = re.split(r",\s+", match["names"])
        if " " in kind and not kind.startswith("{") and (always or not text):
            kind, text = "", f"    {kind}\n{text}".rstrip()
        if always:  # attributes have no defaults that would differ
            names = [", ".join(names)]
        return "".join(f"{name} :{' ' * bool(kind)}{kind}\n{text}{chr(10) * bool(text)}" for name in names) + "\n"

    return ENTRY.sub(entries, f"{body.rstrip()}\n") + "\n"


def link(match):
    """A Markdown reference; names without a module are ellzero's, those of a class's own methods stay as they are."""
    name = match[1]
    if match[0].startswith((":meth:", ":attr:")) and "." not in name:
        return f"`{name}`"
    return f"[`{name.removeprefix('ellzero.')}`][{name if name.startswith('ellzero') else f'ellzero.{name}'}]"
