#!/bin/bash
# hub-init.sh RIG STATE: the first process of a rig's outer process namespace, and the switch all nodes plug into.
# Everything the rig runs lives below this process and in namespaces that nothing else holds: killing it removes
# processes, interfaces and mounts at once, however the rig's script ended.
set -euo pipefail
state=$2

ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip link set br0 addrgenmode none up
ip link set lo up

# /proc still belongs to the caller's process namespace, so this is the number the caller knows us by.
read -r pid _ </proc/self/stat
printf '%s\n' "$pid" >"$state/hub.pid.new"
mv "$state/hub.pid.new" "$state/hub.pid"

# As process 1 it inherits orphans; bash reaps every child that ends while it waits.
while :; do
    sleep infinity &
    wait $! || true
done
