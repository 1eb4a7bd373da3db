#!/bin/sh
# Runs a program for Windows: wine.sh PROGRAM ARGUMENTS... Wine keeps what it takes for a computer in the folder of the build.
export WINEPREFIX="${WINEPREFIX:-$(cd "$(dirname "$0")/.." && pwd)/build/wine}" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe=" WINEARCH=win64
unset DISPLAY
mkdir -p "$(dirname "$WINEPREFIX")"
exec wine "$@"
