"""The package as such: its version, its codes, its imports, its documentation."""

import ast
import importlib
import inspect
import re
import sys
import unittest

from support import PACKAGE, ROOT

import lanyard

SOURCES = sorted((PACKAGE / "src/lanyard").glob("*.py"))


class PackageTests(unittest.TestCase):
    def test_the_version_is_that_of_the_project(self) -> None:
        text = (ROOT / "Sources/ControlAPI/Version.swift").read_text()
        found = re.search(r'static let current = "([^"]+)"', text)
        assert found
        self.assertEqual(lanyard.__version__, found[1])

    def test_the_codes_are_those_of_the_agent(self) -> None:
        text = (ROOT / "Sources/ControlAPI/ErrorCode.swift").read_text()
        codes = set(re.findall(r'case \w+ = "(\w+)"', text))
        self.assertGreater(len(codes), 50)
        self.assertEqual({str(code) for code in lanyard.ErrorCode}, codes)

    def test_only_the_standard_library_is_imported(self) -> None:
        for source in SOURCES:
            for node in ast.walk(ast.parse(source.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    self.assertIn(name.split(".")[0], sys.stdlib_module_names, f"{source.name} imports {name}")

    def test_files_are_short_and_lines_fit(self) -> None:
        for source in [*SOURCES, *(ROOT / "Tests/python").glob("*.py")]:
            lines = source.read_text().splitlines()
            self.assertLess(len(lines), 300, source.name)
            for number, line in enumerate(lines, 1):
                self.assertLessEqual(len(line), 120, f"{source.name}:{number}")

    def test_all_public_names_are_documented(self) -> None:
        for source in SOURCES:
            module = importlib.import_module(f"lanyard.{source.stem}".removesuffix(".__init__"))
            self.assertTrue(module.__doc__, source.name)
            for name, value in vars(module).items():
                if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                    continue
                if inspect.isclass(value) or inspect.isfunction(value):
                    self._check(f"{source.name}: {name}", value)

    def _check(self, name: str, value: object) -> None:
        self.assertTrue(vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__, name)
        for member, method in vars(value).items() if inspect.isclass(value) else ():
            if inspect.isfunction(method) and not member.startswith("_"):
                self.assertTrue(method.__doc__, f"{name}.{member}")

    def test_both_clients_have_the_same_calls(self) -> None:
        def calls(kind: type) -> dict[str, list[str]]:
            found = inspect.getmembers(kind, inspect.isfunction)
            return {name: list(inspect.signature(f).parameters) for name, f in found if not name.startswith("_")}

        self.assertEqual(calls(lanyard.Client), calls(lanyard.AsyncClient))
        self.assertEqual(calls(lanyard.Query), calls(lanyard.AsyncQuery))

    def test_it_is_marked_as_typed(self) -> None:
        self.assertTrue((PACKAGE / "src/lanyard/py.typed").exists())


if __name__ == "__main__":
    unittest.main()
