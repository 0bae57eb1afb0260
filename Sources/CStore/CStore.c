#include "CStore.h"

#include <linux/magic.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/vfs.h>

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
