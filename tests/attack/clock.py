"""Daemons whose wall clock is wrong."""
import pathlib
import subprocess


def clock_ahead(by: str) -> dict:
    """What makes a daemon see a wall clock that is ahead, by "1h" or "100d"; its steady clock stays as it is."""
    library = subprocess.run(["faketime", "-f", "+1h", "sh", "-c", "echo $LD_PRELOAD"], capture_output=True, text=True,
                             check=True).stdout.strip()
    threads = pathlib.Path(library).with_name("libfaketimeMT.so.1")  # the daemon has threads
    return {"LD_PRELOAD": str(threads), "FAKETIME": f"+{by}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
