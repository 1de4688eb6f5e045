#!/bin/sh
# Runs every built fuzz target, or the ones named, for SECONDS, from its seeds, and prints one line for each:
#   fuzz/run.sh SECONDS [BUILD_FOLDER [TARGET...]]
# Exit 1 when a target found something (the input and the log stay in BUILD_FOLDER/findings), 2 when
# there was nothing to run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:?usage: fuzz/run.sh SECONDS [BUILD_FOLDER [TARGET...]]}
build=${2:-${PENSTOCK_BUILD:-$here/../build/asan}}
shift
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- "$build"/fuzz_*
findings=$build/findings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$findings"

stat() { sed -n "s/^stat::$1: *//p" "$log"; }

ran=0
failed=0
for target in "$@"; do
  target=$build/$(basename "$target")
  if [ ! -f "$target" ] || [ ! -x "$target" ]; then continue; fi
  name=$(basename "$target")
  seeds=$here/corpus/${name#fuzz_}
  log=$findings/$name.log
  mkdir -p "$work/$name"
  [ -d "$seeds" ] || seeds=
  # 4 KiB reaches every branch of the parsers; 5 s for one input is a hang, 1 GiB a leak.
  # New inputs go to the first folder, so the seeds stay as they are.
  if "$target" -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$findings/$name-" "$work/$name" ${seeds:+"$seeds"} \
    >"$log" 2>&1; then
    echo "$name: ok, $(stat number_of_executed_units) runs," \
      "$(stat average_exec_per_sec)/s, peak $(stat peak_rss_mb) MB"
    rm -f "$log"
  else
    failed=1
    echo "$name: FOUND $(grep -m1 -E '^SUMMARY|broken invariant|ERROR:' "$log" || tail -n 1 "$log")," \
      "see $findings"
  fi
  ran=$((ran + 1))
done
if [ "$ran" -eq 0 ]; then
  echo "no fuzz targets in $build" >&2
  exit 2
fi
exit "$failed"
