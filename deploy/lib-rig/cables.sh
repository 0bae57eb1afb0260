# shellcheck shell=bash
# Faults between nodes: silent drops, pulled cables, poor cables. Sourced by deploy/rig after world.sh.
#
# $STATE/cuts holds one fault per line (`isolate I`, `cut I J`, `pulled I`) and is the whole truth: the packet filter
# is written anew from it each time, in one transaction.

# The ports of a node on the switch: the cable itself, or the far end of the emulator in it.
ports() { printf '{ "n%s", "b%s" }' "$1" "$1"; }

apply_cuts() {
    local kind first second
    {
        # Adding before deleting makes this work whether or not the table exists.
        printf 'add table bridge rig\ndelete table bridge rig\ntable bridge rig {\nchain forward {\n'
        printf 'type filter hook forward priority 0; policy accept;\n'
        while read -r kind first second; do
            case $kind in
            isolate) printf 'iifname %s drop\noifname %s drop\n' "$(ports "$first")" "$(ports "$first")" ;;
            cut)
                printf 'iifname %s oifname %s drop\n' "$(ports "$first")" "$(ports "$second")"
                printf 'iifname %s oifname %s drop\n' "$(ports "$second")" "$(ports "$first")"
                ;;
            esac
        done <"$STATE/cuts"
        printf '}\n}\n'
    } | in_hub_net nft -f -
}

# add_cut KIND I [J]
add_cut() {
    touch "$STATE/cuts"
    grep -qxF "$*" "$STATE/cuts" || printf '%s\n' "$*" >>"$STATE/cuts"
    if [[ $1 == pulled ]]; then
        # Both ends see it: the switch's end goes down, so the node's end loses its carrier.
        in_hub_net ip link set "n$2" down
    else
        apply_cuts
    fi
}

heal() {
    local kind first
    [[ -s $STATE/cuts ]] || return 0
    while read -r kind first _; do
        if [[ $kind == pulled ]]; then in_hub_net ip link set "n$first" up; fi
    done <"$STATE/cuts"
    : >"$STATE/cuts"
    apply_cuts
}

build_linkem() {
    local compiler
    [[ -x $STATE/linkem ]] && return
    compiler=$(command -v cc || command -v clang || echo "$(dirname "$(command -v swift || echo /opt/swift/usr/bin/swift)")/clang")
    "$compiler" -O2 -o "$STATE/linkem.new" "$FOLDER/lib-rig/linkem.c" ||
        die "cannot compile the link emulator: install gcc and libc6-dev, then run this again"
    mv "$STATE/linkem.new" "$STATE/linkem"
}

# The plain cable again.
link_reset() {
    local number=$1 dir pid
    dir=$(node_dir "$number")
    in_hub_net ip link set "n$number" master br0
    pid=$(first_line "$dir/linkem.pid")
    if is_alive "$pid" "$STATE/linkem"; then kill -KILL "$pid"; fi
    in_hub_net ip link delete "l$number" 2>/dev/null || true
    rm -f "$dir/link" "$dir/linkem.pid"
}

# link_poor NUMBER OPTIONS…: node ── n ─ bridge l ─ TAP a ══ emulator ══ TAP b ─ bridge br0.
# The node's own interface never changes, so it sees a slow cable and no replugging.
link_poor() {
    local number=$1 dir
    shift
    build_linkem
    link_reset "$number"
    dir=$(node_dir "$number")
    # The devices are the emulator's: they go when it goes.
    in_hub "$STATE/linkem" --node "a$number" --switch "b$number" --pid-file "$dir/linkem.pid" "$@" ||
        die "the cable of node $number stays as it was: see the line above, and deploy/rig help"
    until_true "$READY_SECONDS" test -s "$dir/linkem.pid" || die "the link emulator of node $number did not start: deploy/rig down, then up"
    in_hub_net ip -batch - <<BATCH
link add l$number type bridge stp_state 0 forward_delay 0 mcast_snooping 0
link set l$number addrgenmode none up
link set a$number master l$number addrgenmode none up
link set b$number master br0 addrgenmode none up
link set n$number master l$number
BATCH
    printf '%s\n' "${*//--/}" >"$dir/link"
}
