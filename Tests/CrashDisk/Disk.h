#ifndef CRASH_DISK_INTERNAL_H
#define CRASH_DISK_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CrashDisk.h"

enum { FILE_LIMIT = 8, SHM_REGION_LIMIT = 64, SHM_LOCK_COUNT = 8, SECTOR_BYTES = 512 };

/// Bytes that grow.
typedef struct {
    unsigned char *start;
    int64_t count;
    int64_t capacity;
} byte_array;

void bytes_write(byte_array *bytes, const void *source, int64_t offset, int64_t count);
void bytes_truncate(byte_array *bytes, int64_t count);
void bytes_free(byte_array *bytes);

typedef enum { OPERATION_WRITE, OPERATION_TRUNCATE, OPERATION_SYNC, OPERATION_FAILED_SYNC, OPERATION_DELETE } operation_kind;

typedef struct {
    operation_kind kind;
    int file;
    int64_t offset;  // of a truncation: the new size
    int64_t count;
    unsigned char *bytes;
} operation;

/// One name on the disk. Files keep their slot when they are deleted.
typedef struct {
    char *name;
    bool exists;
    byte_array bytes;
    // What was there before the first operation.
    bool existed;
    byte_array original;
    // Locks of the database file: how many hold at least SHARED, and who holds more.
    int shared_count;
    void *reserved_by;
    void *exclusive_by;
    // The wal-index: shared memory of the connections, gone with a loss of power.
    void *shm_regions[SHM_REGION_LIMIT];
    int shm_shared[SHM_LOCK_COUNT];
    void *shm_exclusive[SHM_LOCK_COUNT];
    int shm_users;
} disk_file;

struct crash_disk {
    sqlite3_vfs vfs;
    pthread_mutex_t mutex;
    char *vfs_name;
    disk_file files[FILE_LIMIT];
    int file_count;
    operation *operations;
    int64_t operation_count;
    int64_t operation_capacity;
    int64_t attempt_count;
    int64_t read_count;
    int64_t sync_count;
    crash_fault fault;
    int64_t fault_first;
    int64_t fault_count;
    uint64_t random;
    bool keeps_history;
    // Freed with the last open file once it is destroyed.
    int open_count;
    bool is_destroyed;
};

/// The slot of a name; made when `creating`, else -1 when there is none.
int disk_find(crash_disk *disk, const char *name, bool creating);
void disk_record(crash_disk *disk, operation_kind kind, int file, int64_t offset, int64_t count, const void *bytes);
/// Removes from the list what a sync of the file made durable.
void disk_forget_synced(crash_disk *disk, int synced);
void disk_free(crash_disk *disk);
/// Counts an operation (or a read) and says whether it is to fail.
bool disk_fails(crash_disk *disk, crash_fault fault);
uint64_t disk_random(uint64_t *state);

void disk_register_vfs(crash_disk *disk);
extern const sqlite3_io_methods disk_file_methods;

/// What SQLite keeps per open file.
typedef struct {
    sqlite3_file base;
    crash_disk *disk;
    int file;
    int lock_level;
    bool uses_shm;
    unsigned shm_shared_mask;
    unsigned shm_exclusive_mask;
} open_file;

#endif
