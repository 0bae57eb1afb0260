#ifndef CRASH_DISK_H
#define CRASH_DISK_H

#include <stdbool.h>
#include <stdint.h>

/// A disk in memory under an SQLite VFS of its own, for proofs of durability.
///
/// It writes down every operation that changes it. From that list the disk can be built as a loss of power after any
/// operation would have left it: what was synced is there, and of the rest whatever `crash_loss` says. Faults are given
/// by the number of the operation. Reads and writes of one disk are serialized; disks do not know each other.
typedef struct crash_disk crash_disk;

/// What becomes of writes that were not synced when the power goes.
typedef enum {
    /// All are lost.
    CRASH_LOSES_ALL = 0,
    /// Nothing is lost: the process was killed, the machine went on.
    CRASH_LOSES_NOTHING = 1,
    /// The first few are there, the one after them in part.
    CRASH_KEEPS_PREFIX = 2,
    /// Each sector of 512 bytes of each is there or not.
    CRASH_KEEPS_SECTORS = 3,
} crash_loss;

typedef enum {
    CRASH_FAULT_NONE = 0,
    /// Writes report a full disk.
    CRASH_FAULT_FULL = 1,
    /// Writes, truncations and syncs report an I/O error. After a failed sync the kernel calls the pages clean: what was
    /// waiting is read back as written, no later sync brings it to the disk, and some of it may be there.
    CRASH_FAULT_INPUT_OUTPUT = 2,
    /// Reads report an I/O error.
    CRASH_FAULT_READ = 3,
} crash_fault;

/// Makes an empty disk and registers it as the VFS `name`, not as the default one.
crash_disk *_Nonnull crash_disk_create(const char *_Nonnull name);

/// Unregisters it, and frees it as soon as no file on it is open.
void crash_disk_destroy(crash_disk *_Nonnull disk);

/// Operations that changed the disk so far: writes, truncations, syncs, deletions.
int64_t crash_disk_operation_count(crash_disk *_Nonnull disk);

/// Reads so far.
int64_t crash_disk_read_count(crash_disk *_Nonnull disk);

/// Successful syncs so far.
int64_t crash_disk_sync_count(crash_disk *_Nonnull disk);

/// Operations (or reads, for CRASH_FAULT_READ) numbered `first ..< first + count`, counted from 0, fail.
void crash_disk_fail(crash_disk *_Nonnull disk, crash_fault fault, int64_t first, int64_t count);

/// The disk as it would be found after the power went with `operation_count` operations done.
crash_disk *_Nonnull crash_disk_after_power_loss(
    crash_disk *_Nonnull disk, int64_t operation_count, crash_loss loss, uint64_t seed, const char *_Nonnull name);

/// Keeps of the operations only those that a loss of power may still undo, which is all that long runs need: then only the
/// newest operation can be the last before a loss of power. A failed sync loses all that waited for it.
void crash_disk_forget_history(crash_disk *_Nonnull disk);

/// A copy of the disk as a process reads it. If `is_synced`, all of it is durable: a backup, a disk image. Otherwise only what
/// is durable on the original: the process was killed, the machine went on.
crash_disk *_Nonnull crash_disk_copy(crash_disk *_Nonnull disk, bool is_synced, const char *_Nonnull name);

/// A hash of what a process reads: names, lengths and bytes of the files. Equal disks have equal hashes; two that are found
/// after a loss of power and have equal ones need to be looked at once.
uint64_t crash_disk_content_hash(crash_disk *_Nonnull disk);

/// Fails from now on as the other disk would have.
void crash_disk_fail_like(crash_disk *_Nonnull disk, crash_disk *_Nonnull other);

#endif
