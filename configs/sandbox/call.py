# Runs one call of a tool: the source, its arguments, and what comes back. This is the part that happens inside the
# process of the call, after cells.py has bounded it.
import asyncio
import base64
import dataclasses
import hashlib
import inspect
import json
import linecache
import os
import pickle
import struct
import sys
import traceback
import types
import typing

WORD = 1 << 63
# What sources find without importing it.
GIVEN = {name: getattr(typing, name) for name in typing.__all__}
KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
GIVEN.update(asyncio=asyncio, base64=base64, hashlib=hashlib, json=json, os=os, pickle=pickle, struct=struct, sys=sys)


class Record(dict):
    """A JSON object whose members are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value


class Memory(Record):
    """The blocks of an agent, as tools that ask for agent_state read and change them."""

    def get_block(self, label):
        for block in self.blocks:
            if block.label == label:
                return block
        known = ", ".join(block.label for block in self.blocks)
        raise KeyError(f"Block {label} does not exist (there are: {known})")

    def get_blocks(self):
        return self.blocks

    def list_block_labels(self):
        return [block.label for block in self.blocks]

    def update_block_value(self, label, value):
        if not isinstance(value, str):
            raise ValueError("The value of a block must be a string")
        self.get_block(label).value = value


def agent_of(text):
    agent = json.loads(text, object_hook=Record)
    agent.memory = Memory(agent.memory)
    agent.tools, agent.tool_rules = [], []
    return agent


class Unreadable(Exception):
    """The arguments could not be turned into what the schema says."""


# -- arguments -------------------------------------------------------------------------------------

def whole(value, kind):
    """A JSON text where an array or an object was meant."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, kind) else value


def truth(value):
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in ("true", "1"):
        return True
    if text in ("false", "0"):
        return False
    raise ValueError(f"invalid boolean: {value!r}")


def converted(value, schema):
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string":
        return value if value is None or isinstance(value, str) else str(value)
    if kind == "integer":
        return int(value)
    if kind == "number":
        return float(value)
    if kind == "boolean":
        return truth(value)
    if kind == "array":
        return whole(value, list)
    if kind == "object":
        return whole(value, dict)
    return value


def hints_of(function):
    try:
        return typing.get_type_hints(function)
    except Exception:  # names that only the server of old knew, as AgentState
        return {}


def accepted(value, name, function, properties, hints):
    """An argument as its schema and its annotation want it."""
    if value is None and (type(None) in typing.get_args(hints.get(name)) or name in defaulting_to_none(function)):
        return None
    value = converted(value, properties.get(name))
    return modelled(value, hints[name]) if name in hints else value


def defaulting_to_none(function):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    out = {n for n, d in zip(names[len(names) - len(defaults):], defaults) if d is None}
    return out | {n for n, d in (function.__kwdefaults__ or {}).items() if d is None}


def modelled(value, hint):
    """An object as an instance of the class that the tool's own source declares for it; as it is where it does not fit."""
    try:
        inner = typing.get_args(hint)
        if isinstance(value, list) and len(inner) == 1:
            return [modelled(item, inner[0]) for item in value]
        if isinstance(value, dict) and isinstance(hint, type):
            if hasattr(hint, "model_validate"):
                return hint.model_validate(value)
            if dataclasses.is_dataclass(hint):
                return hint(**value)
    except Exception:
        pass
    return value


def properties_of(function, request):
    """What is known of the arguments: by the schema, or where there is none, by simple annotations."""
    if request.get("schema") is None:
        hints = function.__annotations__.items()
        return {name: {"type": KINDS[hint]} for name, hint in hints if isinstance(hint, type) and hint in KINDS}
    return (request["schema"].get("parameters") or {}).get("properties") or {}


def prepare(function, request):
    properties = properties_of(function, request)
    given = request["arguments"]
    simple = all(isinstance(value, (str, int, float)) for value in given.values())
    hints = {} if simple else hints_of(function)
    out = {name: accepted(value, name, function, properties, hints) for name, value in given.items()}
    code = function.__code__
    wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if "agent_id" in wanted and "agent_id" not in out:
        out["agent_id"] = os.environ.get("LETTA_AGENT_ID")
    agent = None
    if "agent_state" in wanted:
        agent = agent_of(request["agent"]) if request.get("agent") else None
        out["agent_state"] = agent
    return out, agent


# -- results ---------------------------------------------------------------------------------------

def plain(value):
    """What JSON can hold of a value; the rest as its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if -WORD <= value < WORD else str(int(value))
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(value)
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def text_of(document):
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def failure(error, file):
    """The traceback goes to stderr, without the frames of this file; the rest is for the model."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != file:
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)
    return {"error": {"type": type(error).__name__, "message": str(error)}}


# -- the call --------------------------------------------------------------------------------------

def load(source, file):
    """The source as the main module, so that pickle, dataclasses and the like find its classes."""
    module = types.ModuleType("__main__")
    module.__file__ = file
    names = module.__dict__
    names.update(GIVEN)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    sys.modules["__main__"] = module
    if "client" in source and os.environ.get("LETTA_API_KEY"):
        names["client"] = own_client()
    exec(compile(source, file, "exec"), names)
    return names


def own_client():
    try:
        from letta_client import Letta
    except ImportError:
        return None
    return Letta(base_url=os.environ.get("LETTA_BASE_URL") or None, api_key=os.environ["LETTA_API_KEY"])


def function_of(names, request, file):
    found = names.get(request.get("name") or "")
    if inspect.isfunction(found):
        return found
    own = [v for v in names.values() if inspect.isfunction(v) and v.__code__.co_filename == file]
    if not own:
        raise NameError(f"name {request.get('name')!r} is not defined")
    return own[-1]


def changes_of(agent, before):
    if agent is None:
        return {}
    return {b.label: b.value for b in agent.memory.blocks if b.value != before.get(b.label)}


def run(request):
    file = f"{request.get('name') or 'tool'}.py"
    try:
        function = function_of(load(request["source"], file), request, file)
        try:
            arguments, agent = prepare(function, request)
        except (TypeError, ValueError) as error:
            return {**failure(error, file), "unreadable": True}
        before = {b.label: b.value for b in agent.memory.blocks} if agent else {}
        result = function(**arguments)
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        return {"result": plain(result), "blocks": changes_of(agent, before)}
    except SystemExit as error:
        if not error.code:
            return {"result": None}
        return {"error": {"type": "SystemExit", "message": str(error.code)}}
    except BaseException as error:
        return failure(error, file)
