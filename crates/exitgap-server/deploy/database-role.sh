#!/bin/sh
# Runs once, when the database is empty: the role of the recorder, which `exitgap-server migrate` finds. Both roles have one password here,
# because only the two services of compose.yaml reach this server.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE gaps_recorder LOGIN PASSWORD :'password';
SQL
