#!/usr/bin/env bash
# Prints the processor that tests run on, and which of the extensions it has
# that change what code runs: a fault that only some processors show (generated
# code, memmove by rep movs) is then found from the log alone.
set -euo pipefail

extensions='^(avx2|avx512f|avx512vl|bmi2|erms|fma|fsrm)$'

if [ -r /proc/cpuinfo ]; then
	model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	flags=$(sed -n 's/^\(flags\|Features\)[^:]*: *//p' /proc/cpuinfo | head -n 1)
	known=$(tr ' ' '\n' <<<"$flags" | grep -E "$extensions" | sort | tr '\n' ' ' || true)
else
	model=$(sysctl -n machdep.cpu.brand_string 2>/dev/null || true)
	known=
fi
echo "processor: ${model:-unknown} ($(uname -m)), $(getconf _NPROCESSORS_ONLN) online${known:+, with ${known% }}"
