// What the two halves of the fault disk share: files, and what a process may do to them.

#ifndef FAULT_DISK_INTERNAL_H
#define FAULT_DISK_INTERNAL_H

#include "fault_disk.h"

#define LOCK_COUNT 8
#define REGION_COUNT_MAX 256
#define SECTOR_SIZE 512

/// Bytes that grow.
typedef struct buffer {
    uint8_t *bytes;
    size_t count, capacity;
} buffer;

/// Something that waits for a sync: a write, or (without bytes) a truncation to `offset`.
typedef struct change {
    struct change *next;
    size_t offset, count;
    bool is_truncation;
    uint8_t bytes[];
} change;

typedef struct file {
    struct file *next;
    char *name;
    /// What processes see, and what is on the platter.
    buffer seen, durable;
    change *waiting, *last_waiting;
    bool exists, is_name_durable;

    /// Locks, as SQLite knows them; the holder is told by its address.
    int shared_count;
    const void *writer, *excluder;
    /// The index of the log that connections share.
    uint8_t *regions[REGION_COUNT_MAX];
    int region_count, user_count;
    int region_shared[LOCK_COUNT];
    const void *region_holder[LOCK_COUNT];
} file;

struct fault_disk {
    struct fault_disk *next;
    char *name;
    file *files;
    uint64_t random, changes, faults, life;
    fault_disk_losses losses;
    struct {
        bool is_set, is_lasting;
        fault_disk_kind kind;
        uint64_t call;
    } fault;
    bool is_observed, is_let_go;
    int open_count;
    /// Regions that a dead process may still look into.
    void **retired;
    size_t retired_count;
};

/// What a call does, to tell which faults can hit it.
typedef enum { CALL_READ, CALL_WRITE, CALL_SYNC } call_kind;

/// The disk that the path lies on, and the name of the file there; or NULL.
fault_disk *disk_of_path(const char *path, const char **name);
/// Counts a call; true where it must fail.
bool disk_call_fails(fault_disk *disk, call_kind kind, fault_disk_kind *how);
void disk_closed(fault_disk *disk);

file *file_named(const fault_disk *disk, const char *name);
file *file_make(fault_disk *disk, const char *name);
file *file_new(const char *name);
void file_free(file *file);
/// Each returns false where there is no memory.
bool file_write(file *file, const void *bytes, size_t offset, size_t count);
bool file_truncate(file *file, size_t count);
/// Without a disk the file is a temporary one.
bool file_sync(fault_disk *disk, file *file);
/// A failed sync: some of what waited is on the platter, the rest never will be.
void file_sync_failed(fault_disk *disk, file *file);
void file_delete(fault_disk *disk, file *file, bool is_durable);

#endif
