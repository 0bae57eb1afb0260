#ifndef LANYARD_CSTORE_H
#define LANYARD_CSTORE_H

#include <stdbool.h>
#include <stdint.h>

/// Whether `path` is on a file system that a reboot empties (statfs(2): tmpfs, ramfs). False on any error.
bool lanyard_forgets_at_reboot(const char *path);

/// Hardens an `sqlite3 *`: defensive mode on, trusted schema off, no loading of extensions. The options are variadic in
/// SQLite's interface, so Swift cannot set them.
/// Returns an SQLite result code.
int lanyard_harden_connection(void *connection);

/// Has the kernel begin to write out so many bytes of an open file: sync_file_range(2). -1 with errno on an error.
int lanyard_start_writing(int descriptor, int64_t offset, int64_t count);

/// The same, and waits until they are written out. That is no sync: the disk may still hold them in memory of its own. But
/// an error that is reported here is not reported by a later sync.
int lanyard_await_writing(int descriptor, int64_t offset, int64_t count);

/// Opens a file a second time, to write past the kernel's memory of files: open(2), O_DIRECT. -1 with errno EINVAL where the
/// file system cannot.
int lanyard_open_for_direct_writing(const char *path);

/// From now on the calling thread gets what others leave: SCHED_BATCH, nice 10, and long slices, which since Linux 6.12 means
/// that whoever wakes up with shorter ones runs at once. Changes nothing where that is not allowed.
void lanyard_let_others_run_first(void);

/// Where the next bytes that were ever written to an open file begin, at or behind `offset`: lseek(2), SEEK_DATA, which Swift
/// does not import. -1 with errno ENXIO: there are none.
int64_t lanyard_next_written(int descriptor, int64_t offset);

/// Where the next gap begins, at or behind `offset`; the end of the file is one. -1 on an error.
int64_t lanyard_next_gap(int descriptor, int64_t offset);

/// No other process of the same user may read this one's memory from now on: prctl(2), PR_SET_DUMPABLE, which is variadic.
/// Whether it is so.
bool lanyard_keep_memory_private(void);

#endif
