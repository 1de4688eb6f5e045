#!/bin/sh
# Makes the secrets that compose.yaml names, once. The folder keeps other users of this machine out; the files in it are
# readable, since containers see them with the number of another user.
set -eu
cd "$(dirname "$0")"
mkdir -p -m 700 secrets
for name in admin-token api-token resp-password postgres-password redis-password; do
  [ -e "secrets/$name" ] || { openssl rand -hex 32 >"secrets/$name" && chmod 444 "secrets/$name"; }
done
