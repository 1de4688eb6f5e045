"""Attacks on a real daemon. They use the fixtures and helpers of the end-to-end tests."""
import importlib.util
import pathlib
import sys

E2E = pathlib.Path(__file__).resolve().parent.parent / "e2e"
sys.path.insert(1, str(E2E))  # behind this folder: here `conftest` is this file
_spec = importlib.util.spec_from_file_location("e2e_conftest", E2E / "conftest.py")
_module = importlib.util.module_from_spec(_spec)
sys.modules["e2e_conftest"] = _module
_spec.loader.exec_module(_module)
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("__")})
