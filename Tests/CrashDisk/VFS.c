#include "Disk.h"

#include <stdlib.h>
#include <string.h>

// The glue between SQLite and the disk: sqlite.org/c3ref/vfs.html, sqlite.org/c3ref/io_methods.html.

static disk_file *file_of(open_file *open) { return &open->disk->files[open->file]; }

static void enter(open_file *open) { pthread_mutex_lock(&open->disk->mutex); }

static int leave(open_file *open, int code) {
    pthread_mutex_unlock(&open->disk->mutex);
    return code;
}

// Bytes

static int file_read(sqlite3_file *base, void *target, int count, sqlite3_int64 offset) {
    open_file *open = (open_file *)base;
    enter(open);
    if (disk_fails(open->disk, CRASH_FAULT_READ)) return leave(open, SQLITE_IOERR_READ);
    byte_array *bytes = &file_of(open)->bytes;
    int64_t there = bytes->count - offset;
    if (there >= count) {
        memcpy(target, bytes->start + offset, (size_t)count);
        return leave(open, SQLITE_OK);
    }
    if (there < 0) there = 0;
    if (there > 0) memcpy(target, bytes->start + offset, (size_t)there);
    memset((unsigned char *)target + there, 0, (size_t)(count - there));
    return leave(open, SQLITE_IOERR_SHORT_READ);
}

static int file_write(sqlite3_file *base, const void *source, int count, sqlite3_int64 offset) {
    open_file *open = (open_file *)base;
    enter(open);
    if (disk_fails(open->disk, open->disk->fault == CRASH_FAULT_FULL ? CRASH_FAULT_FULL : CRASH_FAULT_INPUT_OUTPUT)) {
        return leave(open, open->disk->fault == CRASH_FAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE);
    }
    bytes_write(&file_of(open)->bytes, source, offset, count);
    disk_record(open->disk, OPERATION_WRITE, open->file, offset, count, source);
    return leave(open, SQLITE_OK);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    open_file *open = (open_file *)base;
    enter(open);
    if (disk_fails(open->disk, CRASH_FAULT_INPUT_OUTPUT) && open->disk->fault == CRASH_FAULT_INPUT_OUTPUT) {
        return leave(open, SQLITE_IOERR_TRUNCATE);
    }
    bytes_truncate(&file_of(open)->bytes, size);
    disk_record(open->disk, OPERATION_TRUNCATE, open->file, size, 0, NULL);
    return leave(open, SQLITE_OK);
}

static int file_sync(sqlite3_file *base, int flags) {
    open_file *open = (open_file *)base;
    (void)flags;
    enter(open);
    if (disk_fails(open->disk, CRASH_FAULT_INPUT_OUTPUT) && open->disk->fault == CRASH_FAULT_INPUT_OUTPUT) {
        disk_record(open->disk, OPERATION_FAILED_SYNC, open->file, 0, 0, NULL);
        return leave(open, SQLITE_IOERR_FSYNC);
    }
    disk_record(open->disk, OPERATION_SYNC, open->file, 0, 0, NULL);
    open->disk->sync_count++;
    if (!open->disk->keeps_history) disk_forget_synced(open->disk, open->file);
    return leave(open, SQLITE_OK);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    open_file *open = (open_file *)base;
    enter(open);
    *size = file_of(open)->bytes.count;
    return leave(open, SQLITE_OK);
}

// Locks of the database file, between connections of this process

static int file_unlock(sqlite3_file *base, int level) {
    open_file *open = (open_file *)base;
    enter(open);
    disk_file *file = file_of(open);
    if (file->exclusive_by == open) file->exclusive_by = NULL;
    if (file->reserved_by == open) file->reserved_by = NULL;
    if (level == SQLITE_LOCK_NONE && open->lock_level >= SQLITE_LOCK_SHARED) file->shared_count--;
    open->lock_level = level;
    return leave(open, SQLITE_OK);
}

static int file_lock(sqlite3_file *base, int level) {
    open_file *open = (open_file *)base;
    enter(open);
    disk_file *file = file_of(open);
    if (open->lock_level >= level) return leave(open, SQLITE_OK);
    if (file->exclusive_by != NULL && file->exclusive_by != open) return leave(open, SQLITE_BUSY);
    if (level == SQLITE_LOCK_SHARED) {
        file->shared_count++;
    } else {
        if (file->reserved_by != NULL && file->reserved_by != open) return leave(open, SQLITE_BUSY);
        file->reserved_by = open;
        if (level == SQLITE_LOCK_EXCLUSIVE) {
            if (file->shared_count > 1) return leave(open, SQLITE_BUSY);
            file->exclusive_by = open;
        }
    }
    open->lock_level = level;
    return leave(open, SQLITE_OK);
}

static int file_check_reserved(sqlite3_file *base, int *is_reserved) {
    open_file *open = (open_file *)base;
    enter(open);
    *is_reserved = file_of(open)->reserved_by != NULL;
    return leave(open, SQLITE_OK);
}

// The wal-index

static int file_shm_map(sqlite3_file *base, int region, int size, int creating, void volatile **target) {
    open_file *open = (open_file *)base;
    enter(open);
    disk_file *file = file_of(open);
    *target = NULL;
    if (region >= SHM_REGION_LIMIT) return leave(open, SQLITE_IOERR_SHMSIZE);
    if (!open->uses_shm) {
        open->uses_shm = true;
        file->shm_users++;
    }
    if (file->shm_regions[region] == NULL && creating) file->shm_regions[region] = calloc(1, (size_t)size);
    *target = file->shm_regions[region];
    return leave(open, SQLITE_OK);
}

static void shm_release(open_file *open, unsigned mask) {
    disk_file *file = file_of(open);
    for (int slot = 0; slot < SHM_LOCK_COUNT; slot++) {
        if ((mask & 1u << slot) == 0) continue;
        if (open->shm_shared_mask & 1u << slot) file->shm_shared[slot]--;
        if (open->shm_exclusive_mask & 1u << slot) file->shm_exclusive[slot] = NULL;
    }
    open->shm_shared_mask &= ~mask;
    open->shm_exclusive_mask &= ~mask;
}

static int shm_acquire(open_file *open, unsigned mask, bool is_shared) {
    disk_file *file = file_of(open);
    for (int slot = 0; slot < SHM_LOCK_COUNT; slot++) {
        if ((mask & 1u << slot) == 0) continue;
        if (file->shm_exclusive[slot] != NULL && file->shm_exclusive[slot] != open) return SQLITE_BUSY;
        int own = (open->shm_shared_mask & 1u << slot) != 0;
        if (!is_shared && file->shm_shared[slot] > own) return SQLITE_BUSY;
    }
    for (int slot = 0; slot < SHM_LOCK_COUNT; slot++) {
        if ((mask & 1u << slot) == 0) continue;
        if (!is_shared) {
            file->shm_exclusive[slot] = open;
            open->shm_exclusive_mask |= 1u << slot;
        } else if ((open->shm_shared_mask & 1u << slot) == 0) {
            file->shm_shared[slot]++;
            open->shm_shared_mask |= 1u << slot;
        }
    }
    return SQLITE_OK;
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    open_file *open = (open_file *)base;
    unsigned mask = ((1u << count) - 1) << offset;
    enter(open);
    if (flags & SQLITE_SHM_UNLOCK) {
        shm_release(open, mask);
        return leave(open, SQLITE_OK);
    }
    return leave(open, shm_acquire(open, mask, (flags & SQLITE_SHM_SHARED) != 0));
}

static void file_shm_barrier(sqlite3_file *base) {
    // The mutex is a barrier.
    open_file *open = (open_file *)base;
    enter(open);
    leave(open, SQLITE_OK);
}

static int file_shm_unmap(sqlite3_file *base, int deleting) {
    open_file *open = (open_file *)base;
    enter(open);
    disk_file *file = file_of(open);
    shm_release(open, (1u << SHM_LOCK_COUNT) - 1);
    if (open->uses_shm && --file->shm_users == 0 && deleting) {
        for (int region = 0; region < SHM_REGION_LIMIT; region++) {
            free(file->shm_regions[region]);
            file->shm_regions[region] = NULL;
        }
    }
    open->uses_shm = false;
    return leave(open, SQLITE_OK);
}

// The rest

static int file_close(sqlite3_file *base) {
    file_unlock(base, SQLITE_LOCK_NONE);
    crash_disk *disk = ((open_file *)base)->disk;
    pthread_mutex_lock(&disk->mutex);
    bool is_last = --disk->open_count == 0 && disk->is_destroyed;
    pthread_mutex_unlock(&disk->mutex);
    if (is_last) disk_free(disk);
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation_code, void *argument) {
    (void)base, (void)operation_code, (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *base) {
    (void)base;
    return 4096;
}

static int file_characteristics(sqlite3_file *base) {
    (void)base;
    // As the Unix VFS says by default: a write that is cut short leaves the bytes beside it alone.
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods disk_file_methods = {
    2,           file_close,          file_read,    file_write,       file_truncate,    file_sync,
    file_size,   file_lock,           file_unlock,  file_check_reserved, file_control,  file_sector_size,
    file_characteristics, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL, NULL,
};

static crash_disk *disk_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags) {
    open_file *open = (open_file *)base;
    crash_disk *disk = disk_of(vfs);
    memset(open, 0, sizeof(open_file));
    pthread_mutex_lock(&disk->mutex);
    int file = disk_find(disk, name ? name : "temporary", (flags & SQLITE_OPEN_CREATE) != 0);
    if (file >= 0) disk->open_count++;
    pthread_mutex_unlock(&disk->mutex);
    if (file < 0) return SQLITE_CANTOPEN;
    open->base.pMethods = &disk_file_methods;
    open->disk = disk;
    open->file = file;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int syncing_directory) {
    crash_disk *disk = disk_of(vfs);
    (void)syncing_directory;
    pthread_mutex_lock(&disk->mutex);
    int code = SQLITE_OK;
    int file = disk_find(disk, name, false);
    if (file < 0) {
        code = SQLITE_IOERR_DELETE_NOENT;
    } else if (disk_fails(disk, CRASH_FAULT_INPUT_OUTPUT) && disk->fault == CRASH_FAULT_INPUT_OUTPUT) {
        code = SQLITE_IOERR_DELETE;
    } else {
        disk->files[file].exists = false;
        bytes_truncate(&disk->files[file].bytes, 0);
        disk_record(disk, OPERATION_DELETE, file, 0, 0, NULL);
    }
    pthread_mutex_unlock(&disk->mutex);
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    crash_disk *disk = disk_of(vfs);
    (void)flags;
    pthread_mutex_lock(&disk->mutex);
    int file = disk_find(disk, name, false);
    // As the Unix VFS: an empty journal does not count.
    *result = file >= 0 && disk->files[file].bytes.count > 0;
    pthread_mutex_unlock(&disk->mutex);
    return SQLITE_OK;
}

/// The name without its directory: a copy of the disk is used in another one.
static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int count, char *target) {
    (void)vfs;
    const char *slash = strrchr(name, '/');
    sqlite3_snprintf(count, target, "%s", slash ? slash + 1 : name);
    return SQLITE_OK;
}

/// Chance with a fixed seed: the salts of the write-ahead log are the same in every run.
static int vfs_randomness(sqlite3_vfs *vfs, int count, char *target) {
    crash_disk *disk = disk_of(vfs);
    pthread_mutex_lock(&disk->mutex);
    for (int index = 0; index < count; index++) target[index] = (char)(disk_random(&disk->random) >> 56);
    pthread_mutex_unlock(&disk->mutex);
    return count;
}

/// Nobody waits here: whoever holds a lock runs on the same thread.
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    (void)vfs;
    *milliseconds = 0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int count, char *target) {
    (void)vfs, (void)count, (void)target;
    return 0;
}

void disk_register_vfs(crash_disk *disk) {
    disk->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(open_file),
        .mxPathname = 512,
        .zName = disk->vfs_name,
        .pAppData = disk,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time,
    };
    sqlite3_vfs_register(&disk->vfs, 0);
}
