// SEEK_DATA and SEEK_HOLE.
#define _GNU_SOURCE

#include "CStore.h"

#include <linux/magic.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <unistd.h>

bool lanyard_forgets_at_reboot(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return false;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

int lanyard_harden_connection(void *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (code == SQLITE_OK) code = sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (code == SQLITE_OK) code = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    return code;
}

int64_t lanyard_next_written(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_DATA); }

int64_t lanyard_next_gap(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }
