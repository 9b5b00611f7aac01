"""Leaves tests out of the wheel; everything else is in pyproject.toml."""

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithoutTests(build_py):
    def find_package_modules(self, package, package_dir):
        modules = super().find_package_modules(package, package_dir)
        return [module for module in modules if not module[1].endswith("_test")]


setup(cmdclass={"build_py": BuildWithoutTests})
