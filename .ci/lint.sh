#!/usr/bin/env bash
# Runs every lint gate and ends with status 1 if one failed, naming which.
# Import directions and house rules are tests: perf/deps_test.go, style_test.go.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

failed=()

# gate NAME COMMAND...: a gate holds if the command ends with status 0.
gate() {
	local name=$1
	shift
	"$@" || failed+=("$name")
}

# silent COMMAND...: status 0 only if the command succeeds and prints nothing on
# standard output, for a tool that lists offenders and ends with status 0 all
# the same. (On stderr the go command tells of downloads.)
silent() {
	local out
	out=$("$@") || return
	[ -z "$out" ] && return
	printf '%s:\n%s\n' "$*" "$out" >&2
	return 1
}

tool() { go tool -modfile=tools.mod "$@"; }

shell_scripts() {
	if command -v shellcheck >/dev/null; then
		shellcheck .ci/run .ci/*.sh
	elif [ "${PRESAGE_REQUIRE_TOOLS:-}" = 1 ]; then
		echo "shellcheck is not installed" >&2
		return 1
	else
		echo "lint: shellcheck is not installed: shell scripts are not checked" >&2
	fi
}

# vulnerabilities: known ones in code that ours can reach. The list of them is fetched;
# without it nothing is checked, and CONTRIBUTING.md says what was reviewed by hand.
vulnerabilities() {
	if curl -fsS -m 20 -o /dev/null https://vuln.go.dev/index/db.json 2>/dev/null; then
		tool govulncheck ./...
	else
		echo "lint: https://vuln.go.dev cannot be reached: vulnerabilities are not checked" >&2
	fi
}

# complexity: functions that are hard to follow, above a cognitive complexity of 25. The
# interpreter's loop is one on purpose, and so is the stream of branches that measures a
# predictor; the programs of datasets/ keep the loop nests of what they are written after.
complexity() { tool gocognit -over 25 -ignore '_test\.go$|engine/rv64/exec\.go$|host/flows\.go$' perf; }

gate gofumpt silent tool gofumpt -l .
gate complexity silent complexity
gate vet go vet ./...
gate staticcheck tool staticcheck ./...
gate tidy go mod tidy -diff
gate shellcheck shell_scripts
gate vulnerabilities vulnerabilities

if [ ${#failed[@]} -gt 0 ]; then
	echo "lint: failed: ${failed[*]}" >&2
	exit 1
fi
echo "lint: gofumpt, complexity, vet, staticcheck, tidy, shellcheck, vulnerabilities: good"
