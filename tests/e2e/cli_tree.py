"""What the program says of itself: `penstock commands --json`, the tree that help, completion and man page are made of."""
import functools
import json
import subprocess

from conftest import binary, clean_environment


@functools.cache
def described() -> dict:
    run = subprocess.run([binary(), "commands", "--json"], capture_output=True, text=True, timeout=30, check=True,
                         env=clean_environment())
    return json.loads(run.stdout)


def commands() -> dict:
    """Every command that does something, by its words without the program: "slots assign"."""
    return {each["command"].removeprefix("penstock "): each for each in described()["commands"] if each["runs"]}


def all_names() -> set:
    """Every name of an option, of any command."""
    return {name for each in commands().values() for option in each["options"] for name in option["names"]}
