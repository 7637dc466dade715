#!/usr/bin/env bash
# Fuzzes every target in turn: bash .ci/fuzz.sh DURATION [PATTERN]
#
# DURATION, such as 1h or 10m, is divided among the targets whose name, such as
# perf/objfile.FuzzRead, matches the extended regular expression PATTERN. New inputs
# that reach new code are kept in the cache of the go command, for the next time; an
# input that fails is written to testdata/fuzz of its package, to be committed with
# the repair. Prints a line for each target with its executions a second, and a second of
# processor time, which other work on the machine does not change.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
	echo "fuzz: $*" >&2
	exit 1
}

# seconds DURATION: in seconds, of a number with the unit h, m, s or none.
seconds() {
	[[ $1 =~ ^([0-9]+)([hms]?)$ ]] || die "a duration of '$1': want a number of hours, minutes or seconds, such as 1h, 10m or 90s"
	case ${BASH_REMATCH[2]} in
	h) echo $((BASH_REMATCH[1] * 3600)) ;;
	m) echo $((BASH_REMATCH[1] * 60)) ;;
	*) echo "${BASH_REMATCH[1]}" ;;
	esac
}

# targets: lines of a package's folder and the name of a target.
targets() {
	grep -rn --include='*_test.go' '^func Fuzz' perf | sed -E 's|/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*).*|.\1|' | sort -u
}

# spurious: the log has no failure but the deadline of -fuzztime. Before Go 1.27 the
# coordinator may take that for one when the machine is busy. An input that fails, or
# takes longer than ten seconds, is written to testdata/fuzz, which the log says.
spurious() {
	grep -q '^ *context deadline exceeded$' "$log" && ! grep -qE 'Failing input|hung or terminated|panic:|testing.go:' "$log"
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	die "want a duration, and at most a pattern"
fi
total=$(seconds "$1")
mapfile -t all < <(targets | grep -E -- "${2:-.}")
[ ${#all[@]} -gt 0 ] || die "no target matches '${2:-.}'"
each=$((total / ${#all[@]}))
[ "$each" -ge 1 ] || die "$1 is less than a second for each of ${#all[@]} targets"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log
corpora=$(go env GOCACHE)/fuzz # of the go command
failed=()
for target in "${all[@]}"; do
	folder=${target%.*}
	name=${target##*.}
	# Built first, so that its processor time is that of fuzzing.
	go test -c -fuzz "^$name\$" -o "$scratch/test" "./$folder"
	corpus=$corpora/$(go list "./$folder")
	mkdir -p "$corpus"
	# Shrinking each new input for a minute, the default, leaves no time for others.
	if ! (
		cd "$folder"
		TIMEFORMAT='processor: %U %S'
		time "$scratch/test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "${each}s" -test.fuzzminimizetime 10x -test.fuzzcachedir "$corpus"
	) >"$log" 2>&1; then
		if spurious; then
			echo "fuzz: $target: go test lost a race with its own deadline (go.dev/issue/75804); no input failed" >&2
		else
			failed+=("$target")
			cat "$log" >&2
		fi
	fi
	# Of the last line of progress that has executions: all, by the time that passed.
	# A target that was never executed was not fuzzed, unless it had little time.
	awk -v target="$target" -v each="$each" '
		match($0, /elapsed: [0-9hms]+/) { time = substr($0, RSTART + 9, RLENGTH - 9) }
		match($0, /execs: [0-9]+/) { execs = substr($0, RSTART + 7, RLENGTH - 7); at = time }
		/^processor: / { processor = $2 + $3 }
		match($0, /total: [0-9]+/) { corpus = substr($0, RSTART + 7, RLENGTH - 7) }
		function secs(s,  n, v) {
			v = 0
			while (match(s, /[0-9]+[hms]/)) {
				n = substr(s, RSTART, RLENGTH - 1)
				u = substr(s, RSTART + RLENGTH - 1, 1)
				v += n * (u == "h" ? 3600 : u == "m" ? 60 : 1)
				s = substr(s, RSTART + RLENGTH)
			}
			return v
		}
		END {
			t = secs(at)
			printf "%-44s %9d executions, %6.0f a second, %6.0f a processor second, %d inputs kept\n", target, execs, (t ? execs / t : execs), (processor ? execs / processor : 0), corpus
			exit execs == 0 && each >= 30
		}
	' "$log" || failed+=("$target (not executed)")
done
if [ ${#failed[@]} -gt 0 ]; then
	die "failed: ${failed[*]}"
fi
