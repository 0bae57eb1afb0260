#include "Disk.h"

#include <stdlib.h>
#include <string.h>

/// What one file is while the list of operations is gone through: what is on the disk, and which operations wait.
typedef struct {
    byte_array durable;
    bool exists;
    bool is_deleted;  // and the deletion waits for a sync of the directory
    int64_t *waiting;
    int64_t waiting_count;
    int64_t waiting_capacity;
} replayed_file;

static void apply(replayed_file *file, const operation *done) {
    file->exists = true;
    if (done->kind == OPERATION_TRUNCATE) {
        bytes_truncate(&file->durable, done->offset);
    } else {
        bytes_write(&file->durable, done->bytes, done->offset, done->count);
    }
}

/// Sectors of one write, each there or not.
static void apply_sectors(replayed_file *file, const operation *done, uint64_t *random) {
    if (done->kind == OPERATION_TRUNCATE) {
        if (disk_random(random) >> 63) apply(file, done);
        return;
    }
    for (int64_t start = 0; start < done->count; start += SECTOR_BYTES) {
        int64_t count = done->count - start < SECTOR_BYTES ? done->count - start : SECTOR_BYTES;
        if ((disk_random(random) >> 63) == 0) continue;
        file->exists = true;
        bytes_write(&file->durable, done->bytes + start, done->offset + start, count);
    }
}

/// Settles what waits: by a sync (nothing is lost), a failed one, or the end of power.
static void settle(crash_disk *disk, replayed_file *file, crash_loss loss, uint64_t *random) {
    int64_t kept = file->waiting_count;
    if (loss == CRASH_LOSES_ALL) kept = 0;
    if (loss == CRASH_KEEPS_PREFIX) kept = (int64_t)(disk_random(random) % (uint64_t)(file->waiting_count + 1));
    for (int64_t index = 0; index < file->waiting_count; index++) {
        const operation *done = &disk->operations[file->waiting[index]];
        if (loss == CRASH_KEEPS_SECTORS || (loss == CRASH_KEEPS_PREFIX && index == kept)) {
            apply_sectors(file, done, random);
        } else if (index < kept) {
            apply(file, done);
        }
    }
    file->waiting_count = 0;
}

static void wait_for_sync(replayed_file *file, int64_t operation_index) {
    if (file->waiting_count == file->waiting_capacity) {
        file->waiting_capacity = file->waiting_capacity * 2 + 16;
        file->waiting = realloc(file->waiting, (size_t)file->waiting_capacity * sizeof(int64_t));
        if (file->waiting == NULL) abort();
    }
    file->waiting[file->waiting_count++] = operation_index;
}

static void erase(replayed_file *file) {
    bytes_free(&file->durable);
    file->exists = false;
    file->is_deleted = false;
    file->waiting_count = 0;
}

static void replay(crash_disk *disk, replayed_file *files, int64_t index, crash_loss loss, uint64_t *random) {
    const operation *done = &disk->operations[index];
    replayed_file *file = &files[done->file];
    switch (done->kind) {
    case OPERATION_WRITE:
    case OPERATION_TRUNCATE:
        if (file->is_deleted) erase(file);
        wait_for_sync(file, index);
        break;
    case OPERATION_SYNC:
        // Syncing a new journal syncs the directory as well: deletions before it are done.
        for (int other = 0; other < disk->file_count; other++) {
            if (files[other].is_deleted) erase(&files[other]);
        }
        settle(disk, file, CRASH_LOSES_NOTHING, random);
        file->exists = true;
        break;
    case OPERATION_FAILED_SYNC:
        settle(disk, file, loss, random);
        break;
    case OPERATION_DELETE:
        file->is_deleted = true;
        break;
    }
}

static void copy_bytes(byte_array *target, const byte_array *source) {
    if (source->count > 0) bytes_write(target, source->start, 0, source->count);
}

void disk_forget_synced(crash_disk *disk, int synced) {
    int64_t deleted_at[FILE_LIMIT], failed_at = -1;
    for (int index = 0; index < FILE_LIMIT; index++) deleted_at[index] = -1;
    for (int64_t index = 0; index < disk->operation_count; index++) {
        const operation *done = &disk->operations[index];
        if (done->kind == OPERATION_DELETE) deleted_at[done->file] = index;
        if (done->kind == OPERATION_FAILED_SYNC && done->file == synced) failed_at = index;
    }
    for (int index = 0; index < disk->file_count; index++) {
        if (deleted_at[index] < 0) continue;
        bytes_truncate(&disk->files[index].original, 0);
        disk->files[index].existed = false;
    }
    disk_file *file = &disk->files[synced];
    int64_t kept = 0;
    for (int64_t index = 0; index < disk->operation_count; index++) {
        operation *done = &disk->operations[index];
        bool is_deleted = index <= deleted_at[done->file];
        if (!is_deleted && done->file != synced) {
            disk->operations[kept++] = *done;
            continue;
        }
        // After a failed sync, no later one brings what had waited for it.
        if (!is_deleted && index > failed_at) {
            if (done->kind == OPERATION_WRITE) bytes_write(&file->original, done->bytes, done->offset, done->count);
            if (done->kind == OPERATION_TRUNCATE) bytes_truncate(&file->original, done->offset);
        }
        free(done->bytes);
    }
    disk->operation_count = kept;
    file->existed = true;
}

crash_disk *crash_disk_copy(crash_disk *disk, bool is_synced, const char *name) {
    crash_disk *copy = crash_disk_create(name);
    pthread_mutex_lock(&disk->mutex);
    copy->keeps_history = disk->keeps_history;
    for (int index = 0; index < disk->file_count; index++) {
        const disk_file *file = &disk->files[index];
        // All slots, so that the operations on them are about the same files.
        disk_file *copied = &copy->files[disk_find(copy, file->name, true)];
        copied->exists = file->exists;
        copy_bytes(&copied->bytes, &file->bytes);
        copied->existed = is_synced ? file->exists : file->existed;
        copy_bytes(&copied->original, is_synced ? &file->bytes : &file->original);
    }
    for (int64_t index = 0; !is_synced && index < disk->operation_count; index++) {
        const operation *done = &disk->operations[index];
        disk_record(copy, done->kind, done->file, done->offset, done->count, done->bytes);
    }
    pthread_mutex_unlock(&disk->mutex);
    return copy;
}

crash_disk *crash_disk_after_power_loss(
    crash_disk *disk, int64_t operation_count, crash_loss loss, uint64_t seed, const char *name) {
    crash_disk *found = crash_disk_create(name);
    replayed_file files[FILE_LIMIT] = {0};
    uint64_t random = seed * 0x9e3779b97f4a7c15u | 1;
    pthread_mutex_lock(&disk->mutex);
    found->keeps_history = disk->keeps_history;
    if (operation_count > disk->operation_count) operation_count = disk->operation_count;
    for (int index = 0; index < disk->file_count; index++) {
        files[index].exists = disk->files[index].existed;
        copy_bytes(&files[index].durable, &disk->files[index].original);
    }
    for (int64_t index = 0; index < operation_count; index++) replay(disk, files, index, loss, &random);
    for (int index = 0; index < disk->file_count; index++) {
        replayed_file *file = &files[index];
        settle(disk, file, loss, &random);
        bool is_gone = file->is_deleted && (loss == CRASH_LOSES_NOTHING || disk_random(&random) >> 63);
        if (file->exists && !is_gone) {
            int slot = disk_find(found, disk->files[index].name, true);
            found->files[slot].bytes = file->durable;
            found->files[slot].existed = true;
            copy_bytes(&found->files[slot].original, &file->durable);
        } else {
            bytes_free(&file->durable);
        }
        free(file->waiting);
    }
    pthread_mutex_unlock(&disk->mutex);
    return found;
}
