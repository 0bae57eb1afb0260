# shellcheck shell=bash
# Making strangers members, and waiting until they hold sessions. Sourced by deploy/rig and deploy/containers/rig, which say what
# `nodes`, `node_dir`, `lanyard_at`, `laggard` and `uses_mdns` are with them.

# pair HOST NUMBER: NUMBER joins with a ticket of HOST.
pair() {
    local ticket log
    log=$(node_dir "$2")/pairing.log
    ticket=$(lanyard_at "$1" invite --json 2>"$log" | jq -r .ticket) && [[ -n $ticket && $ticket != null ]] ||
        laggard "$1" "node $1 made no ticket ($(tail -n 1 "$log"))"
    lanyard_at "$2" join - <<<"$ticket" >>"$log" 2>&1 ||
        laggard "$2" "node $2 could not join through node $1 ($(tail -n 1 "$log"))"
}

# All others join through node 1, a few at a time: an agent answers a bounded number of strangers at once.
pair_all() {
    local number batch=() process
    for number in $(nodes); do
        if ((number == 1)); then continue; fi
        pair 1 "$number" &
        batch+=($!)
        if ((${#batch[@]} == 4)); then
            for process in "${batch[@]}"; do wait "$process" || exit 1; done
            batch=()
        fi
    done
    for process in ${batch[@]+"${batch[@]}"}; do wait "$process" || exit 1; done
}

# Sessions with members; with mDNS those whose record was heard as well, so that nobody who looks at `peers` is early.
connections() {
    local way=''
    if uses_mdns; then way='"via":"mdns"'; fi
    # Each peer on a line: jq takes longer than the command that is asked.
    lanyard_at "$1" peers --json 2>/dev/null | tr '{' '\n' | grep -F '"state":"connected"' | grep -cF "$way" || true
}
has_connections() { (($(connections "$1") >= $2)); }

# Without mDNS nobody tells the others where a node is: then a session with one member is what can be had.
wait_connected() {
    local number count least
    count=$(nodes | wc -l)
    # An agent keeps up to 16 sessions, a random part of a larger mesh.
    least=$((count - 1 > 8 && count > 17 ? 8 : count - 1))
    if ! uses_mdns; then least=1; fi
    for number in $(nodes); do
        until_true "$READY_SECONDS" has_connections "$number" "$least" ||
            laggard "$number" "node $number is connected to $(connections "$number") of $least members after $READY_SECONDS s"
    done
}
