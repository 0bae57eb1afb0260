# shellcheck shell=bash
# Shared by the scripts in this folder: words to say, Debian packages, the Swift toolchain, one build for everything.
# Sourced by bash; expects `set -euo pipefail` and DEPLOY_NAME (the word errors begin with).

ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)

say() { printf '%s\n' "$*"; }

# One line: what happened, and what to do next.
die() {
    printf '%s: %s\n' "${DEPLOY_NAME:-deploy}" "$*" >&2
    exit 1
}

# What building, running and testing need from Debian; everything but the Swift toolchain.
# The right-hand side of each pair is a reason a reader can check.
DEBIAN_PACKAGES=(
    ca-certificates git          # SwiftPM fetches its dependencies
    pkg-config libavahi-client-dev libsqlite3-dev zlib1g-dev # what SyncDiscovery and SyncStore link
    avahi-daemon avahi-utils dbus # mDNS, on the machine and in every node of the rig
    iproute2 nftables procps util-linux e2fsprogs # the rig's cables, cuts, namespaces and disks
    curl jq python3 python3-venv # readiness, JSON in shell, the API check, the Python client
    openssl                      # a TLS client that tries to resume a session
    strace libfaketime           # counting fdatasync, shifting a node's clock
    g++ libc6-dev                # what the Swift toolchain links with, and the link emulator of the rig
    systemd                      # systemd-analyze reads the units; nothing of it has to run
)

# What makes the Debian package and looks at it: its manual, its tags, its own test, its traces.
PACKAGING_PACKAGES=(binutils debhelper dpkg-dev python3)
PACKAGE_CHECK_PACKAGES=(autopkgtest lintian mandoc mmdebstrap piuparts)

# What `deploy/test` needs beside these: a browser that is driven, letters for it to show, and promtool.
TEST_PACKAGES=(chromium chromium-driver fonts-dejavu-core prometheus "${PACKAGING_PACKAGES[@]}" "${PACKAGE_CHECK_PACKAGES[@]}")

# until_true SECONDS COMMAND…: polls, after 5 ms and then after ever longer pauses, a twentieth of the wait and 0.1 s at most; false
# when the time is over.
until_true() {
    local begun=${EPOCHREALTIME/./} limit=$(($1 * 1000000)) elapsed pause
    shift
    until "$@"; do
        elapsed=$((${EPOCHREALTIME/./} - begun))
        ((elapsed < limit)) || return 1
        pause=$((elapsed / 20))
        pause=$((pause < 5000 ? 5000 : pause > 100000 ? 100000 : pause))
        printf -v pause '0.%06d' "$pause"
        sleep "$pause"
    done
}

# Runs a command as root, through sudo where needed.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "$1 needs root: run this as root, or install sudo"
    fi
}

# install_packages [PACKAGE…]: installs the Debian packages that are missing, also of those named; says nothing when there are none.
install_packages() {
    local wanted=("${DEBIAN_PACKAGES[@]}" "$@")
    command -v dpkg-query >/dev/null || {
        say "not a Debian system: please provide the equivalents of: ${wanted[*]}" >&2
        return 0
    }
    local missing=() package state
    declare -A installed=()
    while read -r package state; do
        [[ $state == installed ]] && installed[$package]=1
    done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
    for package in "${wanted[@]}"; do
        [[ -n ${installed[$package]:-} ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    say "Installing from Debian: ${missing[*]}"
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}")
    local log
    log=$(mktemp)
    # The second try is for machines whose package lists are missing or old.
    if ! as_root "${install[@]}" </dev/null >"$log" 2>&1 &&
        ! { as_root apt-get update -qq && as_root "${install[@]}"; } </dev/null >>"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install ${missing[*]}: see above, then run this again"
    fi
    rm -f "$log"
}

# section FILE NAME: its place in the file and its length, in bytes.
section() {
    readelf -SW "$1" | NAME=$2 perl -ne \
        'print hex $1, " ", hex $2, "\n" if /\s\Q$ENV{NAME}\E\s+\S+\s+[0-9a-f]+\s+([0-9a-f]+)\s+([0-9a-f]+)/' |
        grep . || die "$1 has no section $2: build with a toolchain from https://www.swift.org and run this again"
}

# overwrite FILE PLACE: with standard input.
overwrite() { dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# make_debian ARCHIVE [PACKAGE…]: a bare Debian with these packages as an archive of files, kept for the next time. Needs
# mmdebstrap, and root.
make_debian() {
    local archive=$1 log packages
    [[ -s $archive ]] && return
    say "Making a bare Debian of $(dpkg --print-architecture) (half a minute, once)"
    mkdir -p "$(dirname "$archive")"
    log=$(mktemp)
    printf -v packages '%s,' ca-certificates "${@:2}"
    mmdebstrap --variant=apt --include="${packages%,}" --format=tar bookworm "$archive.fresh" >"$log" 2>&1 </dev/null ||
        { tail -n 5 "$log" >&2 && rm -f "$log" "$archive.fresh" && die "mmdebstrap failed: see above"; }
    rm -f "$log"
    mv "$archive.fresh" "$archive"
}

# Swift is the one thing Debian does not have. Also looks where swiftly and the tarball usually put it.
check_swift() {
    local place version
    if ! command -v swift >/dev/null; then
        for place in "$HOME/.local/share/swiftly/bin" /opt/swift/usr/bin /usr/local/swift/usr/bin /usr/libexec/swift/bin; do
            [[ -x $place/swift ]] && PATH=$place:$PATH && break
        done
    fi
    command -v swift >/dev/null ||
        die "Swift 6.2 or newer is needed and is not in Debian: install it from https://www.swift.org/install/linux and run this again"
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    local major=${version% *} minor=${version#* }
    ((${major:-0} > 6 || (${major:-0} == 6 && ${minor:-0} >= 2))) ||
        die "Swift 6.2 or newer is needed, this is ${version/ /.}: install it from https://www.swift.org/install/linux and run this again"
}

# What is built by its own command keeps the time of its last good build apart from the others'.
BUILD_STAMP=deploy-stamp

# is_stale NAME [PATH…]: true when .build/release/NAME is missing or a source is newer, also one below PATH. A build that
# changes nothing does not touch the binaries, so the time of the last good build counts as well.
is_stale() {
    local binary=$ROOT/.build/release/$1 stamp=$ROOT/.build/$BUILD_STAMP
    [[ -x $binary ]] || return 0
    local newer=(-newer "$binary")
    [[ -e $stamp ]] && newer+=(-newer "$stamp")
    [[ -n $(find "$ROOT/Sources" "$ROOT/Package.swift" "${@:2}" -type f "${newer[@]}" -print -quit) ]]
}

# run_build ARGUMENTS…: one `swift build`, shown on a terminal, kept for the error otherwise. $ROOT/.build/deploy-build.log has all of it.
# It plans anew each time, which takes seconds: the plan of a single product has protoc in it, 500 files of C++ that nothing
# here uses, and used again for the tests it compiles them.
run_build() {
    local log=$ROOT/.build/deploy-build.log begun
    mkdir -p "$ROOT/.build"
    begun=$(mktemp "$ROOT/.build/deploy-begun.XXXXXX")
    if ! (cd "$ROOT" && swift build -c release --disable-build-manifest-caching "$@") </dev/null >"$log" 2>&1; then
        rm -f "$begun"
        grep -E '(error|warning): ' "$log" | sort -u | head -n 40 >&2
        tail -n 10 "$log" >&2
        die "the build failed: see above and .build/deploy-build.log, repeat with: swift build -c release $*"
    fi
    # Sources saved while the build ran are newer than its beginning: the next build takes them.
    mv "$begun" "$ROOT/.build/$BUILD_STAMP"
}

# Everything (agent, command, simulator, tests) from one configuration, so nothing is compiled twice.
build_everything() {
    check_swift
    say "Building (the first time takes several minutes, afterwards seconds)"
    run_build --build-tests
}

# Just what the rig starts, and only if needed.
build_agent() {
    if is_stale lanyardd || is_stale lanyard; then
        check_swift
        say "Building lanyardd and lanyard (the first time takes several minutes)" >&2
        run_build --product lanyardd
        run_build --product lanyard
    fi
}
