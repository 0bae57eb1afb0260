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

/// Where the next bytes that were ever written to an open file begin, at or behind `offset`: lseek(2), SEEK_DATA, which Swift
/// does not import. -1 with errno ENXIO: there are none.
int64_t lanyard_next_written(int descriptor, int64_t offset);

/// Where the next gap begins, at or behind `offset`; the end of the file is one. -1 on an error.
int64_t lanyard_next_gap(int descriptor, int64_t offset);

#endif
