#include "Disk.h"

#include <stdlib.h>
#include <string.h>

static void *must(void *pointer) {
    if (pointer == NULL) abort();
    return pointer;
}

void bytes_write(byte_array *bytes, const void *source, int64_t offset, int64_t count) {
    int64_t end = offset + count;
    if (end > bytes->capacity) {
        bytes->capacity = end * 2;
        bytes->start = must(realloc(bytes->start, (size_t)bytes->capacity));
    }
    if (offset > bytes->count) memset(bytes->start + bytes->count, 0, (size_t)(offset - bytes->count));
    memcpy(bytes->start + offset, source, (size_t)count);
    if (end > bytes->count) bytes->count = end;
}

void bytes_truncate(byte_array *bytes, int64_t count) {
    if (count <= bytes->count) {
        bytes->count = count;
    } else {
        unsigned char zero = 0;
        bytes_write(bytes, &zero, count - 1, 1);
    }
}

void bytes_free(byte_array *bytes) {
    free(bytes->start);
    *bytes = (byte_array){0};
}

/// xorshift64* (Vigna 2014).
uint64_t disk_random(uint64_t *state) {
    uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1du;
}

crash_disk *crash_disk_create(const char *name) {
    crash_disk *disk = must(calloc(1, sizeof(crash_disk)));
    disk->vfs_name = must(strdup(name));
    disk->random = 1;
    disk->keeps_history = true;
    pthread_mutex_init(&disk->mutex, NULL);
    disk_register_vfs(disk);
    return disk;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, int64_t count) {
    for (int64_t start = 0; start < count; start += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + start, (size_t)(count - start < 8 ? count - start : 8));
        hash = mix(hash, word);
    }
    return mix(hash, (uint64_t)count);
}

uint64_t crash_disk_content_hash(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    uint64_t hash = 1;
    for (int index = 0; index < disk->file_count; index++) {
        const disk_file *file = &disk->files[index];
        if (!file->exists) continue;
        hash = mix_bytes(hash, file->name, (int64_t)strlen(file->name));
        hash = mix_bytes(hash, file->bytes.start, file->bytes.count);
    }
    pthread_mutex_unlock(&disk->mutex);
    return hash;
}

void crash_disk_destroy(crash_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    pthread_mutex_lock(&disk->mutex);
    disk->is_destroyed = true;
    bool is_unused = disk->open_count == 0;
    pthread_mutex_unlock(&disk->mutex);
    if (is_unused) disk_free(disk);
}

void disk_free(crash_disk *disk) {
    for (int index = 0; index < disk->file_count; index++) {
        disk_file *file = &disk->files[index];
        for (int region = 0; region < SHM_REGION_LIMIT; region++) free(file->shm_regions[region]);
        free(file->name);
        bytes_free(&file->bytes);
        bytes_free(&file->original);
    }
    for (int64_t index = 0; index < disk->operation_count; index++) free(disk->operations[index].bytes);
    free(disk->operations);
    free(disk->vfs_name);
    pthread_mutex_destroy(&disk->mutex);
    free(disk);
}

int disk_find(crash_disk *disk, const char *name, bool creating) {
    for (int index = 0; index < disk->file_count; index++) {
        if (strcmp(disk->files[index].name, name) != 0) continue;
        if (creating) disk->files[index].exists = true;
        return disk->files[index].exists ? index : -1;
    }
    if (!creating) return -1;
    if (disk->file_count == FILE_LIMIT) abort();
    disk_file *file = &disk->files[disk->file_count];
    file->name = must(strdup(name));
    file->exists = true;
    return disk->file_count++;
}

void disk_record(crash_disk *disk, operation_kind kind, int file, int64_t offset, int64_t count, const void *bytes) {
    if (disk->operation_count == disk->operation_capacity) {
        disk->operation_capacity = disk->operation_capacity * 2 + 64;
        disk->operations =
            must(realloc(disk->operations, (size_t)disk->operation_capacity * sizeof(operation)));
    }
    operation *recorded = &disk->operations[disk->operation_count++];
    *recorded = (operation){kind, file, offset, count, NULL};
    if (bytes != NULL) {
        recorded->bytes = must(malloc((size_t)count + 1));
        memcpy(recorded->bytes, bytes, (size_t)count);
    }
}

bool disk_fails(crash_disk *disk, crash_fault fault) {
    int64_t number = fault == CRASH_FAULT_READ ? disk->read_count++ : disk->attempt_count++;
    bool is_meant = fault == CRASH_FAULT_READ ? disk->fault == CRASH_FAULT_READ
                                              : disk->fault == CRASH_FAULT_FULL || disk->fault == CRASH_FAULT_INPUT_OUTPUT;
    return is_meant && number >= disk->fault_first && number - disk->fault_first < disk->fault_count;
}

static int64_t locked(crash_disk *disk, const int64_t *value) {
    pthread_mutex_lock(&disk->mutex);
    int64_t copy = *value;
    pthread_mutex_unlock(&disk->mutex);
    return copy;
}

int64_t crash_disk_operation_count(crash_disk *disk) { return locked(disk, &disk->attempt_count); }

int64_t crash_disk_read_count(crash_disk *disk) { return locked(disk, &disk->read_count); }

int64_t crash_disk_sync_count(crash_disk *disk) { return locked(disk, &disk->sync_count); }

void crash_disk_fail(crash_disk *disk, crash_fault fault, int64_t first, int64_t count) {
    pthread_mutex_lock(&disk->mutex);
    disk->fault = fault;
    disk->fault_first = first;
    disk->fault_count = count;
    pthread_mutex_unlock(&disk->mutex);
}

void crash_disk_forget_history(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    disk->keeps_history = false;
    pthread_mutex_unlock(&disk->mutex);
}

void crash_disk_fail_like(crash_disk *disk, crash_disk *other) {
    crash_disk_fail(disk, other->fault, other->fault_first - crash_disk_operation_count(other), other->fault_count);
}
