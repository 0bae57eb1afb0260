# shellcheck shell=bash
# Data disks of a node's own: small ones to fill, and one whose plug can be pulled. Sourced after daemons.sh.

# make_disk NUMBER MIB tmpfs|ext4: before the node begins, which mounts it (node-init.sh).
make_disk() {
    local dir
    dir=$(node_dir "$1")
    case $3 in
    tmpfs) printf '%s' "$2" >"$dir/disk" ;;
    ext4)
        truncate --size "$2M" "$dir/disk.ext4"
        mkfs.ext4 -q -m 0 "$dir/disk.ext4" || die "cannot make a disk for node $1: install e2fsprogs"
        ;;
    esac
}

# FS_IOC_SHUTDOWN of <linux/fs.h>, _IOR('X', 125, __u32), with EXT4_GOING_FLAGS_NOLOGFLUSH: from this moment on nothing
# reaches the disk, neither the journal's pages in memory nor the files'. That is all that a machine without power keeps.
# shellcheck disable=SC2016
CUT_POWER='open(my $folder, "<", $ARGV[0]) or die "$!\n"; my $how = pack("L", 2); ioctl($folder, 0x8004587d, $how) or die "$!\n"'

# The disk goes before the agent: between the two, writes fail, which an agent may hear but cannot acknowledge.
unplug() {
    local dir
    dir=$(node_dir "$1")
    [[ -e $dir/disk.ext4 ]] || die "node $1 has no disk that can lose power: deploy/rig add --disk 512 --ext4 makes one"
    in_node "$1" perl -e "$CUT_POWER" "$dir/data" || die "the disk of node $1 does not let its power be cut: see the line above"
    end_daemon "$1" agent KILL 10
    # A process that has just ended may hold its files for a moment longer.
    until_true "$READY_SECONDS" in_node "$1" umount "$dir/data" 2>/dev/null ||
        die "somebody else uses $dir/data on node $1: end what runs there, then start it"
    # Replays the journal, as a boot does.
    in_node "$1" mount -o loop,commit=300 "$dir/disk.ext4" "$dir/data"
}
