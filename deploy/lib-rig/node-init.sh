#!/bin/bash
# node-init.sh RIG NUMBER DIR: the first process of one node, in its own net, mount, uts and process namespaces.
# Says its number to the caller, waits for the cable, becomes a small machine with its own bus and mDNS, and then reaps.
set -euo pipefail
number=$2 dir=$3

# Nothing that is mounted here may travel back.
mount --make-rprivate /
read -r pid _ </proc/self/stat
printf '%s\n' "$pid" >"$dir/pid.new"
mv "$dir/pid.new" "$dir/pid"

hostname "node$number"
# The pid file, the bus and the agent's lease all live in /run: a private one makes this a machine of its own.
mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs /run
mkdir -m 0755 /run/dbus /run/avahi-daemon
mkdir -m 0700 /run/lanyard
# The host's static services and names are not this node's.
if [[ -d /etc/avahi ]]; then mount -t tmpfs -o mode=0755 tmpfs /etc/avahi; fi
if [[ -s $dir/disk ]]; then mount -t tmpfs -o "mode=0700,size=$(<"$dir/disk")m" tmpfs "$dir/data"; fi
if [[ -e $dir/disk.ext4 ]]; then
    # The journal would take what was not synced to the disk every 5 s: a plug is not always pulled before that.
    mount -o loop,commit=300 "$dir/disk.ext4" "$dir/data"
    chmod 0700 "$dir/data"
    rmdir "$dir/data/lost+found"
fi
until [[ -e $dir/plugged ]]; do sleep 0.005; done
mount -t proc proc /proc
mount -t sysfs sysfs /sys
ip -batch - <<BATCH
link set lo up
link set eth0 addrgenmode none
link set eth0 up
address add $(<"$dir/address")/16 dev eth0
address add fe80::$(printf '%x' "$number")/64 dev eth0 nodad
BATCH
: >"$dir/ready"

while :; do
    sleep infinity &
    wait $! || true
done
