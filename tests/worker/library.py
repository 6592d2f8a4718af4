"""The language worker library of Azure Functions, called as the host's proxy calls it.

It exists for Python 3.13 and later and keeps what it knows in globals: one a process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import types
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

NAME = "azure_functions_runtime"
MISSING = "the worker library is not installed (requirements-worker.txt, Python 3.13 or later)"


def is_installed() -> bool:
    return sys.version_info >= (3, 13) and all(map(find_spec, (NAME, f"{NAME}_v1")))


@dataclass(frozen=True)
class Function:
    """What the worker tells the host about a function."""

    id: str
    name: str
    trigger: Mapping[str, Any]
    retried: bool


class WorkerError(Exception):
    """The worker says that it, or the function, failed."""


class Worker:
    """The app of a folder, indexed and ready to be invoked."""

    def __init__(self, folder: Path) -> None:
        self.protos = _protocol()
        self._library = import_module(NAME)
        self._numbers = count(1)
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, daemon=True).start()
        self._library.start_threadpool_executor()
        start = self.protos.WorkerInitRequest(function_app_directory=str(folder))
        self._checked(self._ask("worker_init_request", start))
        self.functions = {function.name: function for function in self._listed()}

    def invoke(self, name: str, data: Any) -> Any:
        """What a function returns for the data of its trigger, a TypedData; None if nothing.

        Raises WorkerError with what the function raised.
        """
        function = self.functions[name]
        invocation = self.protos.InvocationRequest(
            invocation_id=str(next(self._numbers)),
            function_id=function.id,
            input_data=[self.protos.ParameterBinding(name=function.trigger["name"], data=data)],
        )
        answer = self._checked(self._ask("invocation_request", invocation))
        return answer.return_value if answer.HasField("return_value") else None

    def _listed(self) -> list[Function]:
        asked = self.protos.FunctionsMetadataRequest()
        answer = self._checked(self._ask("functions_metadata_request", asked))
        functions = []
        for found in answer.function_metadata_results:
            load = self.protos.FunctionLoadRequest(function_id=found.function_id, metadata=found)
            self._checked(self._ask("function_load_request", load))
            bindings = [json.loads(binding) for binding in found.raw_bindings]
            (trigger,) = [b for b in bindings if b["type"].casefold().endswith("trigger")]
            retried = found.HasField("retry_options")
            functions.append(Function(found.function_id, found.name, trigger, retried))
        return functions

    def _ask(self, kind: str, content: Any) -> Any:
        field = "functions_metadata_request" if kind.startswith("functions") else kind
        message = self.protos.StreamingMessage(**{field: content})
        request = SimpleNamespace(request=message, properties={"protos": self.protos, "host": ""})
        call: Coroutine[Any, Any, Any] = getattr(self._library, kind)(request)
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def _checked(self, answer: Any) -> Any:
        if answer.result.status != self.protos.StatusResult.Success:
            raise WorkerError(answer.result.exception.message)
        return answer


def _protocol() -> Any:
    """The protocol's messages, which azure-functions-runtime-v1 happens to carry as tests.protos.

    That name is taken by our own tests, and its __init__ wants gRPC; so they are loaded under
    another name, without it.
    """
    spec = find_spec(f"{NAME}_v1")
    assert spec and spec.origin
    package = types.ModuleType("worker_protos")
    package.__path__ = [str(Path(spec.origin).parents[1] / "tests" / "protos")]
    sys.modules[package.__name__] = package
    messages: dict[str, Any] = {}
    for module in ("shared.NullableTypes_pb2", "FunctionRpc_pb2"):
        messages |= vars(import_module(f"{package.__name__}.{module}"))
    return SimpleNamespace(**messages)
