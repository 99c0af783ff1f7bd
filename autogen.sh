#!/bin/sh
# Makes configure and the Makefile.in files in a fresh clone.
cd "$(dirname "$0")" && exec autoreconf -fi
