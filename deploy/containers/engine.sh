# shellcheck shell=bash
# Shared by deploy/containers/rig and deploy/containers/check: what podman needs from Debian, and how the image is made without a
# registry. Sourced by bash after deploy/lib.sh.

# crun, Debian's first choice, does not start where control groups are mounted read-only or in the first version; runc does.
DEBIAN_PACKAGES+=(podman runc netavark iptables mmdebstrap "${PACKAGING_PACKAGES[@]}")

# The name that compose.yaml gives the image, and the Debian below it.
# shellcheck disable=SC2034
IMAGE=localhost/lanyard
BASE_IMAGE=localhost/lanyard-base

# package_version DEB: the version of a package.
package_version() { dpkg-deb --field "$1" Version; }

# find_package PLACE: the package that PLACE is, or the only one in that folder; nothing if there is none.
find_package() {
    local found
    if [[ -f $1 && $1 == *.deb ]]; then printf '%s' "$1" && return; fi
    found=$(compgen -G "$1/lanyard_*.deb") || return 0
    [[ $found != *$'\n'* ]] || die "$1 has several packages: name one of them"
    printf '%s' "$found"
}

# package_of PLACE FOLDER [VERSION]: the package that PLACE is or has, else one made of the programs in PLACE, written to FOLDER.
# VERSION is for one that is made.
package_of() {
    local package
    package=$(find_package "$1")
    if [[ -z $package ]]; then
        [[ -x $1/lanyardd && -x $1/lanyard ]] || die "$1 has neither lanyardd and lanyard nor a package lanyard_*.deb"
        package=$("$ROOT/deploy/package" --binaries "$1" --level 0 --out "$2" ${3:+--version "$3"} | tail -n 1) ||
            die "no package could be made of $1: see above"
    fi
    printf '%s' "$package"
}

# build_image PACKAGE TAG: the last stage of Containerfile on a Debian of mmdebstrap, with this package in place of what the first
# stage would build. The label tells afterwards which one it was.
build_image() {
    local package=$1 tag=$2 stage log status=0
    make_debian "$ROOT/.build/containers/base.tar" >&2
    podman image exists "$BASE_IMAGE" || podman import --quiet "$ROOT/.build/containers/base.tar" "$BASE_IMAGE" >/dev/null ||
        die "podman could not import .build/containers/base.tar: remove that file, and run this again"
    stage=$(mktemp -d)
    mkdir "$stage/packages"
    cp "$package" "$stage/packages/"
    log=$(mktemp)
    podman build --format docker --isolation chroot --network host --quiet \
        --build-arg "BASE=$BASE_IMAGE" --build-context "build=$stage" \
        --label "org.opencontainers.image.version=$(package_version "$package")" \
        --file "$ROOT/deploy/containers/Containerfile" --tag "$tag" "$ROOT" >"$log" 2>&1 </dev/null || status=$?
    rm -rf "$stage"
    if ((status)); then tail -n 20 "$log" >&2; fi
    rm -f "$log"
    if ((status)); then die "podman could not build the image: see above"; fi
}
