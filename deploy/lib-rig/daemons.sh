# shellcheck shell=bash
# What runs on a node besides its first process: bus, avahi-daemon, agent. Sourced by deploy/rig after world.sh.

# How long things may take, also the start of a process, before the rig says what it waits for.
READY_SECONDS=${RIG_TIMEOUT:-20}

# node_environment NUMBER: fills the array `environment` with what a process on the node sees of the rig.
node_environment() {
    local dir
    dir=$(node_dir "$1")
    environment=(
        env --unset=DBUS_SYSTEM_BUS_ADDRESS --unset=DBUS_SESSION_BUS_ADDRESS --unset=XDG_RUNTIME_DIR
        --unset=XDG_DATA_HOME --unset=XDG_CONFIG_HOME --unset=XDG_STATE_HOME
        "PATH=$STATE/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
        "HOME=$dir/home" "LANYARD_DATA_DIR=$dir/data" "LANYARD_SOCKET=$dir/control.sock"
    )
    if [[ -e $dir/clock ]]; then
        environment+=(
            "LD_PRELOAD=$(<"$dir/clock-library")" "FAKETIME_TIMESTAMP_FILE=$dir/clock" FAKETIME_NO_CACHE=1
            FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1
        )
    fi
}

# spawn NUMBER DAEMON COMMAND…: in the node, below its first process, its output appended to DAEMON.log, its number in
# DAEMON.pid. The process namespace is entered first and the mounts last, while /proc still shows the caller's numbers.
spawn() {
    local number=$1 daemon=$2 dir pid
    shift 2
    dir=$(node_dir "$number") pid=$(node_pid "$number")
    rm -f "$dir/$daemon.pid"
    # shellcheck disable=SC2016
    detached nsenter --target "$pid" --net --uts --pid -- setsid -f bash -c '
        dir=$1 daemon=$2 target=$3; shift 3
        read -r pid _ </proc/self/stat
        printf "%s\n" "$pid" >"$dir/$daemon.pid.new"
        mv "$dir/$daemon.pid.new" "$dir/$daemon.pid"
        exec >>"$dir/$daemon.log" 2>&1 nsenter --target "$target" --mount -- "$@"
    ' spawn "$dir" "$daemon" "$pid" "$@"
    until_true "$READY_SECONDS" test -e "$dir/$daemon.pid" || die "node $number: $daemon did not start: $(tail -n 1 "$STATE/detached.log")"
}

# The number of a daemon that lives, else nothing. A number that belongs to another namespace by now is not ours.
daemon_pid() {
    local dir pid field= state=
    dir=$(node_dir "$1")
    pid=$(first_line "$dir/$2.pid")
    [[ -n $pid ]] || return 0
    while read -r field state _ && [[ $field != State: ]]; do :; done 2>/dev/null <"/proc/$pid/status" || return 0
    [[ $field == State: && $state != [ZX] ]] || return 0
    [[ /proc/$pid/ns/pid -ef /proc/$(node_pid "$1")/ns/pid ]] || return 0
    printf '%s' "$pid"
}
daemon_is_gone() { [[ -z $(daemon_pid "$1" "$2") ]]; }

# end_daemon NUMBER DAEMON SIGNAL SECONDS: returns when the process is gone; gone already is fine.
end_daemon() {
    local pid
    pid=$(daemon_pid "$1" "$2")
    [[ -n $pid ]] || return 0
    kill "-$3" "$pid" 2>/dev/null || true
    until_true "$4" daemon_is_gone "$1" "$2" ||
        die "node $1: $2 is still there $4 s after SIG$3: deploy/rig log $1 shows what it does, deploy/rig kill $1 ends it"
}

bus_start() {
    if ! daemon_is_gone "$1" dbus; then return; fi
    in_node "$1" rm -f /run/dbus/system_bus_socket
    spawn "$1" dbus dbus-daemon --config-file="$STATE/dbus.conf" --nofork --nopidfile
    until_true "$READY_SECONDS" test -S "/proc/$(node_pid "$1")/root/run/dbus/system_bus_socket" ||
        die "node $1: the bus does not start: $(tail -n 1 "$(node_dir "$1")/dbus.log")"
}
avahi_start() {
    if ! daemon_is_gone "$1" avahi; then return; fi
    in_node "$1" rm -f /run/avahi-daemon/pid
    spawn "$1" avahi avahi-daemon --no-drop-root --no-chroot --no-rlimits --no-proc-title -f "$(node_dir "$1")/avahi.conf"
    until_true "$READY_SECONDS" avahi_answers "$1" ||
        die "node $1: avahi-daemon does not start: $(tail -n 1 "$(node_dir "$1")/avahi.log")"
}
# Its log, not its bus name: asking the bus costs a process each time.
avahi_answers() { [[ -S /proc/$(node_pid "$1")/root/run/avahi-daemon/socket ]]; }

# agent_options NUMBER OPTION…: what lanyardd is started with besides, from now on. One may hold anything but NUL.
agent_options() {
    local file
    file=$(node_dir "$1")/options
    shift
    if (($#)); then printf '%s\0' "$@" >"$file"; else rm -f "$file"; fi
}

# agent_begin starts the agent, agent_ready waits for it: two steps, so that many start at once.
agent_begin() {
    local number=$1 dir options=() environment
    dir=$(node_dir "$number")
    if ! daemon_is_gone "$number" agent; then return; fi
    if ! uses_mdns; then options+=(--no-mdns); fi
    if [[ -e $dir/options ]]; then mapfile -d '' -t -O "${#options[@]}" options <"$dir/options"; fi
    node_environment "$number"
    spawn "$number" agent "${environment[@]}" lanyardd --data-dir "$dir/data" --socket "$dir/control.sock" \
        --name "node$number" --log-format text --log-level "${RIG_LOG_LEVEL:-info}" "${options[@]}"
}
answers_readyz() {
    curl --silent --fail --max-time 2 --output /dev/null --unix-socket "$(node_dir "$1")/control.sock" http://localhost/readyz
}
agent_is_ready_or_gone() { answers_readyz "$1" || daemon_is_gone "$1" agent; }
agent_ready() {
    # Asked once: an agent that is told to wipe its data answers, and begins anew a moment later.
    until_true "$READY_SECONDS" agent_is_ready_or_gone "$1" ||
        laggard "$1" "the agent of node $1 did not answer /readyz within $READY_SECONDS s"
    if daemon_is_gone "$1" agent; then laggard "$1" "the agent of node $1 ended while starting"; fi
}

# laggard NUMBER SENTENCE: the error with the end of that node's log.
laggard() {
    printf 'the log of node %s ends:\n' "$1" >&2
    tail -n 15 "$(node_dir "$1")/agent.log" 2>/dev/null | sed 's/^/    /' >&2
    die "$2: see its log above, then deploy/rig down"
}

# The socket is a path that all mount namespaces share, so asking an agent needs no namespace.
lanyard_at() {
    local number=$1
    shift
    LANYARD_SOCKET=$(node_dir "$number")/control.sock timeout "$READY_SECONDS" "$BINARIES/lanyard" "$@"
}
