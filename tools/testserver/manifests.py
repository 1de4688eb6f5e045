"""Helm, and our own checker of container and Kubernetes files, compiled once from tools/manifests."""

import hashlib
import shutil
from pathlib import Path

from . import cache, golang
from .process import StartFailed, Unavailable, progress, run

MODULE = Path(__file__).resolve().parent.parent / "manifests"
HELM = "helm.sh/helm/v3/cmd/helm"  # go.mod has its version, go.sum what it must be
BUILD_SECONDS = 1800  # three minutes on two busy cores


def programs():
    """The folder with the programs `helm` and `manifests`."""
    digest = hashlib.sha256()
    for file in sorted(MODULE.iterdir()):
        digest.update(file.read_bytes())
    return cache.provide(f"manifests-{digest.hexdigest()[:12]}", _build)


def _build(folder):
    scratch = folder / "scratch"
    go, environment = golang.toolchain(scratch)
    progress("manifests: compiling Helm and the checker once; this takes minutes")
    try:
        run(["nice", "-n", "10", go, "build", "-ldflags=-s -w", "-o", folder, ".", HELM], seconds=BUILD_SECONDS,
            what="helm", cwd=MODULE, env={**environment, "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false"})
    except StartFailed as failure:
        raise Unavailable(f"Helm cannot be compiled: {failure}") from None
    shutil.rmtree(scratch, ignore_errors=True)
