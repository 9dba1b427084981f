#!/bin/sh
# build.sh TARGET: compiles the corpus program as one static file, so that a root needs nothing else to run it.
exec gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -pthread -o "$1" "$(dirname "$0")"/*.c -lrt
