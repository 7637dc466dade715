#!/usr/bin/env bash
# Installs what the demo or the tests need and is not there yet.
#
#   .ci/install-deps.sh demo   Jupyter, to run and to see notebooks
#   .ci/install-deps.sh test   that, and the tools that tests compare with
#
# Debian and Ubuntu: apt-get, as root or through sudo. macOS: brew, Jupyter
# only; tests that need other tools are skipped there with a reason. Elsewhere,
# or without the rights: says what to install and ends with status 1.
set -euo pipefail

demo_packages=(
	jupyter-nbconvert
	jupyter-notebook
	python3-nbclient
)
test_packages=(
	"${demo_packages[@]}"
	binutils
	binutils-riscv64-linux-gnu
	chromium
	g++
	g++-riscv64-linux-gnu
	gcc
	gcc-riscv64-linux-gnu
	gfortran
	gfortran-riscv64-linux-gnu
	libc6-dev-riscv64-cross
	llvm-14
	mariadb-server
	munge
	openssh-client
	openssh-server
	python3
	python3-numpy
	python3-scipy
	qemu-user
	shellcheck
	slurm-wlm
	slurmdbd
	sqlite3
	r-base-core
	r-cran-quadprog
	valgrind
)
# Where there is no npm yet.
npm_packages=(
	nodejs
	npm
)

die() {
	echo "install-deps: $*" >&2
	exit 1
}

# have_jupyter: nbsetup starts it; this only looks for it, where that is enough.
have_jupyter() {
	command -v jupyter-nbconvert >/dev/null || jupyter nbconvert --version >/dev/null 2>&1
}

# missing_packages prints those of its arguments that dpkg does not have.
missing_packages() {
	local package
	for package in "$@"; do
		case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
		"install ok installed") ;;
		*) echo "$package" ;;
		esac
	done
}

# root runs a command as root. Without a terminal sudo must not ask.
root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif [ -t 0 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

can_be_root() {
	[ "$(id -u)" -eq 0 ] && return
	command -v sudo >/dev/null || return
	[ -t 0 ] || sudo -n true 2>/dev/null
}

# quietly runs a command and shows its output only if it fails.
quietly() {
	local log
	log=$(mktemp)
	if "$@" >"$log" 2>&1 </dev/null; then
		rm -f "$log"
		return
	fi
	echo "install-deps: failed: $*" >&2
	tail -n 40 "$log" >&2
	rm -f "$log"
	return 1
}

apt_install() {
	local options=(-q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3)
	quietly root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" update &&
		quietly root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" \
			install --no-install-recommends "$@"
}

install_debian() {
	local missing
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -eq 0 ] && return
	can_be_root || die "needs root to install packages. Run, as root:
    apt-get update && apt-get install --no-install-recommends ${missing[*]}"
	echo "install-deps: installing ${missing[*]}"
	apt_install "${missing[@]}" && return
	echo "install-deps: trying once more" >&2
	sleep 5
	apt_install "${missing[@]}" || die "apt-get could not install ${missing[*]}"
}

# install_from_npm places what npm brings for a test into the build folder: a reader of
# Parquet that is not ours.
install_from_npm() {
	local from to
	from=$(dirname "$0")/../perf/study/record/parquet/testdata/hyparquet
	to=$(dirname "$0")/../build/hyparquet
	cmp -s "$from/package-lock.json" "$to/package-lock.json" && [ -d "$to/node_modules" ] && return
	echo "install-deps: installing hyparquet"
	mkdir -p "$to"
	cp "$from/package.json" "$from/package-lock.json" "$to"
	quietly npm ci --ignore-scripts --no-audit --no-fund --prefix "$to" ||
		die "npm could not install hyparquet, which a test of Parquet files reads with"
}

install_brew() {
	have_jupyter && return
	echo "install-deps: installing jupyterlab with brew"
	quietly brew install jupyterlab || die "brew could not install jupyterlab"
}

[ $# -eq 1 ] || die "want one argument, demo or test"
case $1 in
demo)
	packages=("${demo_packages[@]}")
	# A Jupyter from elsewhere (pip, conda, brew) is as good.
	if have_jupyter; then packages=(); fi
	;;
test)
	packages=("${test_packages[@]}")
	# Node.js from elsewhere is as good.
	command -v npm >/dev/null || packages+=("${npm_packages[@]}")
	;;
*) die "unknown argument $1: want demo or test" ;;
esac

command -v go >/dev/null || die "the go command is not on PATH: install Go 1.26 or later from https://go.dev/dl/"
if [ ${#packages[@]} -gt 0 ]; then
	if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
		install_debian "${packages[@]}"
	elif [ "$(uname -s)" = Darwin ] && command -v brew >/dev/null; then
		install_brew
	elif ! have_jupyter; then
		die "no apt-get and no brew here. Install Jupyter with nbconvert and nbclient
    (for example: python3 -m pip install notebook nbconvert nbclient), then run this again."
	fi
fi
have_jupyter || die "'jupyter nbconvert --version' fails although its package is installed:
$(jupyter nbconvert --version 2>&1 | tail -n 5)
    Is another jupyter first on PATH? ($(command -v jupyter || echo none))"
if [ "$1" = test ]; then install_from_npm; fi
