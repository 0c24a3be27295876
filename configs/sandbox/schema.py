# Derives the JSON schema of a tool from its source, without running it (ast). The texts of errors are part of the API.
import ast
import inspect
import re

SIMPLE = {"str": "string", "int": "integer", "bool": "boolean", "float": "number", "dict": "object", "Dict": "object"}
GIVEN_BY_THE_SERVER = {"self", "agent_state"}
CLASSES = {"str", "int", "bool", "float", "list", "dict"}
TYPING = {"List": "typing.List", "Dict": "typing.Dict"}  # others are printed as they are written
NESTED = "Dictionary types {} with nested type arguments are not supported (consider using a Pydantic model instead)"


class SchemaError(Exception):
    pass


def value_error(text):
    return SchemaError(f"Value error in schema generation: {text}")


# -- docstrings ------------------------------------------------------------------------------------

SECTION = re.compile(r"^(Args|Arguments|Parameters|Params|Attributes|Returns?|Yields?|Raises|Exceptions|Except|Examples?):\s*$")
ARGUMENTS = {"Args", "Arguments", "Parameters", "Params", "Attributes"}
FIELD = re.compile(r"^:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
ITEM = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def indent(line):
    return len(line) - len(line.lstrip())


def joined(first, rest):
    """The first line of a description, and what goes on below it."""
    more = inspect.cleandoc("\n".join(rest)) if any(line.strip() for line in rest) else ""
    return "\n".join(part for part in (first.strip(), more) if part)


def items_of(lines, matches):
    """What is named at the least indentation, each with its description."""
    out, level = {}, min((indent(line) for line in lines if line.strip()), default=0)
    name, first, rest = None, "", []
    for line in lines + [None]:
        found = matches(line[level:]) if line is not None and line.strip() and indent(line) == level else None
        if found or line is None:
            if name:
                out[name] = joined(first, rest)
            name, first, rest = (*found, []) if found else (None, "", [])
        else:
            rest.append(line)
    return out


def google(lines):
    out, body, inside = {}, [], False
    for line in lines + ["End."]:
        if line[:1].strip():  # not indented: a section begins, or whatever there was has ended
            if inside:
                out.update(items_of(body, lambda text: (m := ITEM.match(text)) and m.groups()))
            section = SECTION.match(line)
            inside, body = section is not None and section[1] in ARGUMENTS, []
        elif inside:
            body.append(line)
    return out


def rest_fields(lines):
    out, name = {}, None
    for line in lines:
        found = FIELD.match(line)
        if found:
            name, out[found[1]] = found[1], found[2].strip()
        elif line.startswith(":"):
            name = None
        elif name and line.strip():
            out[name] += ("\n" if out[name] else "") + line.strip()
    return out


def numpy(lines):
    out, body, inside = {}, [], False
    lines = lines + ["End", "---"]
    for line, following in zip(lines, lines[1:]):
        if re.fullmatch(r"-{3,}\s*", following) and line.strip():
            if inside:
                out.update(items_of(body, lambda text: (m := re.match(r"^\*{0,2}(\w+)\s*(?::.*)?$", text)) and (m[1], "")))
            inside, body = line.strip() in ("Parameters", "Params", "Arguments", "Other Parameters", "Attributes"), []
        elif inside and not re.fullmatch(r"-{3,}\s*", line):
            body.append(line)
    return out


def documented(text):
    """The description and the arguments of a docstring, in whichever style it names most of them."""
    lines = inspect.cleandoc(text).splitlines()
    found = max((google(lines), rest_fields(lines), numpy(lines)), key=len)
    said = []
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if SECTION.match(line) or re.match(r":\w+", line) or (line.strip() and re.fullmatch(r"-{3,}\s*", following)):
            break
        said.append(line)
    short, _, long = "\n".join(said).strip().partition("\n")
    description = "\n\n".join(part for part in (short, long.strip("\n")) if part)
    examples = re.search(r"^[ \t]*(Examples?:[ \t]*\n.*?)(?=^[ \t]*\w+:[ \t]*$|\Z)", text, re.M | re.S)
    if examples:
        description += "\n\n" + examples[1].rstrip()
    return description, found


# -- annotations -----------------------------------------------------------------------------------

def worded(node):
    """An annotation as the errors of the API word it: one class as Python prints it, several in brackets."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return ast.unparse(node)
    outer, inner = node.value.id, node.slice
    if isinstance(inner, ast.Name) and inner.id in CLASSES:
        return f"{TYPING.get(outer, outer)}[<class '{inner.id}'>]"
    return f"{TYPING.get(outer, outer)}[{ast.unparse(inner)}]"


def unknown(node):
    return value_error(
        f"Python type {worded(node)} has no corresponding JSON schema type - full map: "
        "{<class 'int'>: 'integer', <class 'str'>: 'string', <class 'bool'>: 'boolean', <class 'float'>: 'number', None: 'null'}"
    )


def nested_dictionary(node):
    inner = ast.unparse(node.slice)
    return value_error(NESTED.format(f"dict[{inner if isinstance(node.slice, ast.Name) else repr(inner)}]"))


def name_of(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def parts_of(node):
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def unquoted(node):
    """An annotation that is written as a string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value, mode="eval").body
        except SyntaxError:
            raise unknown(node) from None
    return node


def is_optional(node):
    return isinstance(node, ast.Subscript) and name_of(node.value) == "Optional"


def type_of(node, classes):
    node = unquoted(node)
    name = name_of(node)
    if name in SIMPLE:
        return {"type": SIMPLE[name]}
    if name in ("list", "List"):
        return {"type": "array", "items": {"type": "string"}}
    if name in classes:
        return object_of(classes[name], {k: v for k, v in classes.items() if k != name})
    if not isinstance(node, ast.Subscript):
        raise unknown(node)
    outer, parts = name_of(node.value), parts_of(node)
    if outer == "Optional":
        return type_of(parts[0], classes)
    if outer in ("list", "List"):
        return {"type": "array", "items": type_of(parts[0], classes)}
    if outer == "Literal":
        return {"type": "string", "enum": [ast.literal_eval(part) for part in parts]}
    if outer == "dict":
        raise nested_dictionary(node)
    raise unknown(node)


def object_of(node, classes):
    """A class of the source with annotated fields, as of pydantic."""
    out = {"type": "object", "properties": {}, "required": []}
    for field in node.body:
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        shape, needed = type_of(field.annotation, classes), field.value is None
        if isinstance(field.value, ast.Call) and name_of(field.value.func) == "Field":
            default = field.value.args[:1] + [k.value for k in field.value.keywords if k.arg in ("default", "default_factory")]
            needed = not default or isinstance(default[0], ast.Constant) and default[0].value is ...
            shape.update({k.arg: ast.literal_eval(k.value) for k in field.value.keywords if k.arg == "description"})
        out["properties"][field.target.id] = shape
        if needed and not is_optional(field.annotation):
            out["required"].append(field.target.id)
    return out


# -- functions -------------------------------------------------------------------------------------

def parameters_of(function):
    """Each parameter, and whether it has a default."""
    listed = function.args.posonlyargs + function.args.args
    bare = len(listed) - len(function.args.defaults)
    out = [(a, n >= bare) for n, a in enumerate(listed)]
    return out + [(a, d is not None) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults)]


def functions_of(tree):
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def parse(source):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise SchemaError(f"Failed to parse source code: {error}") from None
    functions = functions_of(tree)
    if not functions:
        raise SchemaError("No functions found in source code")
    return functions[-1], {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def derive(source):
    function, classes = parse(source)
    text = ast.get_docstring(function, clean=False)
    if not text:
        raise SchemaError(f"Function {function.name} missing docstring")
    description, arguments = documented(text)
    shape = {"type": "object", "properties": {}, "required": []}
    for parameter, has_default in parameters_of(function):
        name, where = parameter.arg, f"'{parameter.arg}' in function '{function.name}'"
        if name in GIVEN_BY_THE_SERVER:
            continue
        if parameter.annotation is None:
            raise SchemaError(f"Type error in schema generation: Parameter {where} lacks a type annotation")
        if not arguments.get(name):
            raise value_error(f"Parameter {where} lacks a description in the docstring")
        shape["properties"][name] = {**type_of(parameter.annotation, classes), "description": arguments[name]}
        if not has_default and not is_optional(unquoted(parameter.annotation)):
            shape["required"].append(name)
    return {"name": function.name, "description": description, "parameters": shape}


# -- arguments that are described apart from the source ----------------------------------------------

PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def hint_of(kind):
    """The annotation that a described type stands for."""
    if kind["type"] == "array":
        return f"typing.List[{hint_of(kind['items'])}]"
    return PLAIN.get(kind["type"], "dict")


def referred(node, models):
    name = str(node["$ref"]).rsplit("/", 1)[-1]
    if name not in models:
        raise SchemaError(f"Reference {name} not found in nested models")
    rest = {k: v for k, v in models.items() if k != name}  # what refers to itself ends here
    return arguments_of(models[name], rest)


def mapping(node, models):
    """An object without properties of its own."""
    values = node.get("additionalProperties", True)
    if values is True:
        return {"type": "object"}
    if values is False:
        raise SchemaError("additionalProperties=false is not supported.")
    raise SchemaError(NESTED.format(f"typing.Dict[str, {hint_of(kind_of(values, models))}]"))


def is_null(node):
    return isinstance(node, dict) and node.get("type") == "null"


def kind_of(node, models):
    """What is kept of a described type: no default, no enumeration, no title."""
    if not isinstance(node, dict):
        raise SchemaError(f"A type has to be described by an object, not by {node!r}")
    kind = node.get("type")
    if isinstance(kind, str) and kind in PLAIN:
        return {"type": kind}
    if kind == "array":
        return {"type": "array", "items": kind_of(node.get("items"), models)}
    if node.get("$ref") is not None:
        return referred(node, models)
    if kind == "object":
        return mapping(node, models)
    if isinstance(node.get("anyOf"), list):
        kinds = [kind_of(each, models) for each in node["anyOf"] if not is_null(each)]
        if len(kinds) == 1:
            return kinds[0]
        raise SchemaError("General Union types are not yet supported")
    raise SchemaError(f"Unable to convert pydantic field schema to type: {node}")


def arguments_of(node, models):
    properties = node.get("properties") if isinstance(node, dict) else None
    if not isinstance(properties, dict):
        raise SchemaError(f"Arguments have to be described by an object with properties, not by {node!r}")
    needed = node.get("required") if isinstance(node.get("required"), list) else []
    kept = {name: {**kind_of(field, models), "description": field.get("description", "")} for name, field in properties.items()}
    return {"type": "object", "properties": kept, "required": [name for name in properties if name in needed]}


def described(source, arguments):
    """The schema of the last function; its description is null where it has no docstring."""
    unread = "Failed to parse function name and docstring"
    try:
        functions = functions_of(ast.parse(source))
    except (SyntaxError, ValueError) as error:
        raise SchemaError(f"{unread}: {error}") from None
    if not functions:
        raise SchemaError(f"{unread}: No function definition found in source code")
    models = arguments.get("$defs")
    kept = arguments_of(arguments, models if isinstance(models, dict) else {})
    return {"name": functions[-1].name, "description": ast.get_docstring(functions[-1]) or None, "parameters": kept}


def schema(request):
    arguments = request.get("arguments_schema")
    failed = "Schema generation failed: " if arguments is None else ""
    try:
        if arguments is not None:
            return {"schema": described(request["source"], arguments)}
        return {"schema": derive(request["source"])}
    except SchemaError as error:
        return {"refused": f"{failed}{error}"}
    except RecursionError:
        return {"refused": f"{failed}Failed to parse source code: it is nested too deeply"}
