#ifndef LANYARD_CSTORE_H
#define LANYARD_CSTORE_H

#include <stdbool.h>

/// Whether `path` is on a file system that a reboot empties (statfs(2): tmpfs, ramfs). False on any error.
bool lanyard_forgets_at_reboot(const char *path);

/// Hardens an `sqlite3 *`: defensive mode on, trusted schema off, no loading of extensions. The options are variadic in
/// SQLite's interface, so Swift cannot set them.
/// Returns an SQLite result code.
int lanyard_harden_connection(void *connection);

#endif
