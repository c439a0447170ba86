#!/bin/sh
# Become the process that is named: code, daemon or webserver. Used by: evolake@.service
bin=.venv/bin
case "$1" in
  code) exec $bin/dagster api grpc --host "$EVOLAKE_CODE_HOST" --port "$EVOLAKE_CODE_PORT" --module-name pipelines.definitions --location-name evolake ;;
  daemon) exec $bin/dagster-daemon run --workspace deploy/compose/workspace.yaml ;;
  webserver) exec $bin/dagster-webserver --host 127.0.0.1 --port 3000 --workspace deploy/compose/workspace.yaml ;;
esac
echo "start.sh: no process of this name; wanted: code, daemon or webserver; got: '$1'" >&2
exit 2
