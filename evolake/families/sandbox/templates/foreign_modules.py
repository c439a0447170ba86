"""The files of a foreign task in one source, importable by the names that they use among themselves, and what a task needs of its project."""

FILES: dict[str, str] = {}
# --- program ---
import importlib.abc
import importlib.machinery
import inspect
import sys
import types

PROJECT = '''
class Data:
    def __init__(self, question="", answer="", difficulty=1, metadata=None, **more):
        self.question, self.answer, self.difficulty, self.metadata = question, answer, difficulty, metadata or {}
        self.__dict__.update(more)


class Verifier:
    def extract_answer(self, test_solution):
        return test_solution


class Game:
    def __init__(self, name="", verifier=Verifier, **more):
        self.name, self.verifier = name, verifier()

    def extract_answer(self, test_solution):
        return self.verifier.extract_answer(test_solution)

    def verify(self, data, test_solution):
        return self.verifier.verify(data, test_solution)
'''
"""What SynLogic's tasks import of their project (`Game`, `Data`, `Verifier`)."""


def path_of(name):
    """The file that a module name means: the one whose path ends like the name, else the one of that last name."""
    parts = name.split(".")
    whole = [path for path in FILES if ("/" + path).endswith("/" + "/".join(parts) + ".py")]
    return next(iter(whole or [path for path in FILES if path.rpartition("/")[2] == parts[-1] + ".py"]), None)


class ForeignModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what Python does not know, after everything else."""

    def find_spec(self, name, path=None, target=None):
        known = path_of(name) is not None or name.rpartition(".")[2] in ("data", "game", "verifier", "base", "games", "tasks", "scripts")
        known = known or any("/" + name.replace(".", "/") + "/" in "/" + item for item in FILES)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        module.__path__ = []
        path = path_of(module.__name__)
        exec(compile(FILES[path] if path else PROJECT, path or module.__name__, "exec"), module.__dict__)


sys.meta_path.append(ForeignModules())


def loaded(path):
    """The module of a file."""
    return importlib.import_module(path.removesuffix(".py").replace("/", "."))


def called_with(function, **values):
    """The function's result; of the values it is given those that it takes."""
    taken = inspect.signature(function).parameters
    every = any(item.kind is item.VAR_KEYWORD for item in taken.values())
    return function(**{name: value for name, value in values.items() if every or name in taken})
