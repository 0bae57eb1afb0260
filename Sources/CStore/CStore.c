// O_DIRECT, SEEK_DATA and SEEK_HOLE.
#define _GNU_SOURCE

#include "CStore.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

bool lanyard_forgets_at_reboot(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return false;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

// SQLite takes this before anything else of it runs, and refuses it later. Its figures of memory cost a lock of the whole
// process at every allocation, and nothing here reads them.
__attribute__((constructor)) static void count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int lanyard_harden_connection(void *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (code == SQLITE_OK) code = sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (code == SQLITE_OK) code = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    return code;
}

int lanyard_start_writing(int descriptor, int64_t offset, int64_t count) {
    return sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

int lanyard_await_writing(int descriptor, int64_t offset, int64_t count) {
    return sync_file_range(descriptor, offset, count,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

int lanyard_open_for_direct_writing(const char *path) { return open(path, O_WRONLY | O_DIRECT | O_CLOEXEC | O_NOFOLLOW); }

void lanyard_let_others_run_first(void) {
    // As in linux/sched/types.h; glibc has it from 2.41 on.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.policy = SCHED_BATCH;
    attributes.nice = 10;
    attributes.runtime = 100 * 1000 * 1000;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

int64_t lanyard_next_written(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_DATA); }

int64_t lanyard_next_gap(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }

bool lanyard_keep_memory_private(void) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
}
