"""Functions that pass keyword arguments on to others: a setting is written down once, and help() still shows it everywhere."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def keyword_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keyword-only parameters of a function, by name."""
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name: parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}


def arguments_of(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that are arguments of the function."""
    return {name: settings[name] for name in inspect.signature(function).parameters if name in settings}


def passes_on(settings: type, *targets: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let a function take the keys of a TypedDict as ``**settings``, and no other names.

    Its signature shows them after its own parameters, with the defaults that the targets, to which it passes them on, have.

    >>> import inspect
    >>> from typing import TypedDict
    >>> class Settings(TypedDict, total=False):
    ...     tol: float
    >>> def inner(*, tol=1e-6, secret=0): ...
    >>> @passes_on(Settings, inner)
    ... def outer(x, **settings): ...
    >>> str(inspect.signature(outer))
    '(x, *, tol=1e-06)'
    """
    passed: dict[str, inspect.Parameter] = {}
    for target in targets:
        for name, parameter in keyword_parameters(target).items():
            if name in settings.__annotations__:
                passed.setdefault(name, parameter)

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        known = {parameter.name for parameter in own} | set(passed)

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            for name in named:
                if name not in known:
                    near = difflib.get_close_matches(name, sorted(known), 1)
                    hint = f"; did you mean {near[0]!r}?" if near else ""
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
            return function(*args, **named)

        call.__signature__ = signature.replace(parameters=[*own, *passed.values()])  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate
