# shellcheck shell=bash
# The rig's world: its state directory, the switch, the nodes. Sourced by deploy/rig, which sets FOLDER, RIG, STATE and die().

# first_line FILE: nothing if there is no such file. The tests ask the rig thousands of times, and a program for each file
# that is read would cost more than the rest.
first_line() {
    local line=
    read -r line 2>/dev/null <"$1" || true
    printf '%s' "$line"
}

# detached COMMAND…: runs it in a session of its own, holding none of the caller's descriptors.
detached() (
    exec </dev/null >>"$STATE/detached.log" 2>&1
    local descriptor number
    for descriptor in /proc/"$BASHPID"/fd/*; do
        number=${descriptor##*/}
        if ((number > 2)); then eval "exec $number>&-"; fi
    done
    exec setsid -f "$@"
)

# is_alive PID TITLE: the process exists, is no zombie, and is still the one we started.
is_alive() {
    local words=()
    [[ -n $1 && -r /proc/$1/cmdline ]] || return 1
    mapfile -d '' -t words 2>/dev/null <"/proc/$1/cmdline" || return 1
    [[ "${words[*]} " == *"$2"* ]]
}

hub_pid() { first_line "$STATE/hub.pid"; }
hub_is_up() { is_alive "$(hub_pid)" "hub-init.sh $RIG "; }
need_rig() { hub_is_up || die "no rig called '$RIG' is up: start one with deploy/rig up 3"; }

# Inside the switch: its interfaces, and a process namespace that ends with the rig.
in_hub() { nsenter --target "$(hub_pid)" --net --pid -- "$@"; }

node_dir() { printf '%s/node%s' "$STATE" "$1"; }
node_pid() { first_line "$STATE/node$1/pid"; }
need_node() {
    need_rig
    [[ $1 =~ ^[1-9][0-9]{0,3}$ && -d $STATE/node$1 ]] || die "there is no node '$1': deploy/rig list shows the nodes"
    is_alive "$(node_pid "$1")" "node-init.sh $RIG $1 " || die "node $1 has died: deploy/rig down, then up again"
}
in_node() {
    local number=$1
    shift
    nsenter --target "$(node_pid "$number")" --net --mount --uts --pid -- "$@"
}
nodes() {
    local dir
    for dir in "$STATE"/node*/; do [[ -e ${dir}pid ]] && basename "$dir"; done | sed 's/^node//' | sort -n
}

uses_mdns() { [[ $(<"$STATE/mdns") == on ]]; }

# Only root may have made it, or somebody waits for us with a directory of their own.
make_state() {
    if [[ -d $STATE ]]; then
        if hub_is_up; then die "the rig '$RIG' is already up: deploy/rig down, or choose another with RIG=name"; fi
        world_down
    fi
    mkdir -m 0700 "$STATE" || die "cannot make $STATE: remove what is in its place"
    mkdir "$STATE/bin"
    # The example applications of Sources/Examples, too; a link to one that was not built leads nowhere.
    ln -s "$BINARIES"/{lanyard,lanyardd,light-switch,notes,plays,ten-lines,todo} "$STATE/bin/"
    cat >"$STATE/dbus.conf" <<'CONF'
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
CONF
}

world_up() {
    make_state
    detached unshare --pid --net --mount --fork bash "$FOLDER/lib-rig/hub-init.sh" "$RIG" "$STATE"
    until_true "$READY_SECONDS" test -e "$STATE/hub.pid" ||
        die "could not make namespaces: $(tail -n 1 "$STATE/detached.log"); this needs root and a kernel with namespaces"
}

# node_begin NUMBER: starts the node and plugs it in; node_ready waits. Two steps, so that many start at once.
node_begin() {
    local number=$1 dir
    dir=$(node_dir "$number")
    [[ -d $dir ]] || mkdir "$dir"
    mkdir -m 0700 "$dir/data" "$dir/home"
    printf '10.77.%d.%d' $((number >> 8)) $((number & 255)) >"$dir/address"
    cat >"$dir/avahi.conf" <<CONF
[server]
host-name=node$number
use-ipv4=yes
use-ipv6=yes
[publish]
publish-hinfo=no
publish-workstation=no
CONF
    detached nsenter --target "$(hub_pid)" --net --mount --pid -- setsid -f \
        unshare --net --mount --uts --pid --fork bash "$FOLDER/lib-rig/node-init.sh" "$RIG" "$number" "$dir"
    until_true "$READY_SECONDS" test -e "$dir/pid" || die "node $number did not start: $(tail -n 1 "$STATE/detached.log")"
    in_hub_net ip -batch - <<BATCH
link add n$number type veth peer name eth0 address 02:00:00:00:$(printf '%02x:%02x' $((number / 256)) $((number % 256))) netns $(node_pid "$number")
link set n$number master br0 addrgenmode none up
BATCH
    : >"$dir/plugged"
}
# Without the process namespace: `netns PID` means a number of ours.
in_hub_net() { nsenter --target "$(hub_pid)" --net -- "$@"; }
node_ready() {
    until_true "$READY_SECONDS" test -e "$(node_dir "$1")/ready" ||
        die "node $1 did not come up: $(tail -n 1 "$STATE/detached.log")"
}

# Removes everything, also what a script that was killed half-way left behind.
world_down() {
    local pid
    for pid in $(hub_pid) $(pgrep -u 0 -f "hub-init\.sh $RIG $STATE\$" || true); do
        if is_alive "$pid" "hub-init.sh $RIG "; then kill -KILL "$pid" 2>/dev/null || true; fi
        until_true 10 is_gone "$pid" || die "process $pid of the rig does not end: look at it with ps -p $pid"
    done
    rm -rf --one-file-system "$STATE"
}
# Not before the last process of its namespaces has gone too: process 1 is reaped after them.
is_gone() { [[ ! -d /proc/$1 ]]; }
