// "parley-fault": how SQLite reaches the files of a fault disk.
//
// Production's own pragmas hold: the log of changes and the index that connections share work as
// on Linux. A handle of a process that died answers every call with an error.

#include "disk.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    sqlite3_file base;
    /// NULL for a temporary file, which belongs to its handle alone.
    fault_disk *disk;
    file *file;
    uint64_t life;
    int level;
    bool has_regions, is_deleted_on_close;
    uint8_t shared, exclusive;
} handle;

static handle *of(sqlite3_file *base) { return (handle *)base; }

static bool is_dead(const handle *h) {
    return h->disk && (h->disk->is_let_go || h->life != h->disk->life);
}

/// SQLITE_OK, or what the fault looks like to this call.
static int called(handle *h, call_kind kind, int error) {
    if (is_dead(h)) return error;
    fault_disk_kind how;
    if (!h->disk || !disk_call_fails(h->disk, kind, &how)) return SQLITE_OK;
    if (kind == CALL_SYNC) file_sync_failed(h->disk, h->file);
    return how == FAULT_DISK_FULL ? SQLITE_FULL : error;
}

// MARK: Bytes

static int read_bytes(sqlite3_file *base, void *into, int count, sqlite3_int64 offset) {
    handle *h = of(base);
    int code = called(h, CALL_READ, SQLITE_IOERR_READ);
    if (code != SQLITE_OK) return code;
    const buffer *seen = &h->file->seen;
    size_t start = (size_t)offset, wanted = (size_t)count;
    size_t there = start < seen->count ? seen->count - start : 0;
    if (there > wanted) there = wanted;
    if (there) memcpy(into, seen->bytes + start, there);
    if (there == wanted) return SQLITE_OK;
    memset((uint8_t *)into + there, 0, wanted - there);
    return SQLITE_IOERR_SHORT_READ;
}

static int write_bytes(sqlite3_file *base, const void *from, int count, sqlite3_int64 offset) {
    handle *h = of(base);
    int code = called(h, CALL_WRITE, SQLITE_IOERR_WRITE);
    if (code != SQLITE_OK) return code;
    return file_write(h->file, from, (size_t)offset, (size_t)count) ? SQLITE_OK
                                                                    : SQLITE_IOERR_NOMEM;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 count) {
    handle *h = of(base);
    int code = called(h, CALL_WRITE, SQLITE_IOERR_TRUNCATE);
    if (code != SQLITE_OK) return code;
    return file_truncate(h->file, (size_t)count) ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

static int sync_file(sqlite3_file *base, int flags) {
    (void)flags;
    handle *h = of(base);
    int code = called(h, CALL_SYNC, SQLITE_IOERR_FSYNC);
    if (code != SQLITE_OK) return code;
    return file_sync(h->disk, h->file) ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *count) {
    handle *h = of(base);
    if (is_dead(h)) return SQLITE_IOERR_FSTAT;
    *count = (sqlite3_int64)h->file->seen.count;
    return SQLITE_OK;
}

// MARK: Locks

static int lock_file(sqlite3_file *base, int level) {
    handle *h = of(base);
    file *f = h->file;
    if (is_dead(h)) return SQLITE_IOERR_LOCK;
    if (h->level >= level) return SQLITE_OK;
    if (level == SQLITE_LOCK_SHARED) {
        if (f->excluder && f->excluder != h) return SQLITE_BUSY;
        f->shared_count++;
    } else {
        if (f->writer && f->writer != h) return SQLITE_BUSY;
        f->writer = h;
        if (level > SQLITE_LOCK_RESERVED) f->excluder = h;
        if (level == SQLITE_LOCK_EXCLUSIVE && f->shared_count > 1) {
            h->level = SQLITE_LOCK_PENDING;
            return SQLITE_BUSY;
        }
    }
    h->level = level;
    return SQLITE_OK;
}

static int unlock_file(sqlite3_file *base, int level) {
    handle *h = of(base);
    file *f = h->file;
    if (is_dead(h) || h->level <= level) return SQLITE_OK;
    if (f->writer == h) f->writer = NULL;
    if (f->excluder == h) f->excluder = NULL;
    if (level == SQLITE_LOCK_NONE) f->shared_count--;
    h->level = level;
    return SQLITE_OK;
}

static int check_reserved(sqlite3_file *base, int *is_reserved) {
    *is_reserved = !is_dead(of(base)) && of(base)->file->writer != NULL;
    return SQLITE_OK;
}

// MARK: The index of the log, which connections share

static int map_region(
    sqlite3_file *base, int index, int size, int must_extend, void volatile **region) {
    handle *h = of(base);
    file *f = h->file;
    *region = NULL;
    if (is_dead(h)) return SQLITE_IOERR_SHMMAP;
    if (index >= REGION_COUNT_MAX) return SQLITE_FULL;
    if (!h->has_regions) {
        h->has_regions = true;
        f->user_count++;
    }
    while (must_extend && f->region_count <= index) {
        uint8_t *bytes = calloc(1, (size_t)size);
        if (!bytes) return SQLITE_NOMEM;
        f->regions[f->region_count++] = bytes;
    }
    if (index < f->region_count) *region = f->regions[index];
    return SQLITE_OK;
}

static void unlock_region(handle *h, int place) {
    uint8_t bit = (uint8_t)(1 << place);
    if (h->shared & bit) h->file->region_shared[place]--;
    if (h->exclusive & bit) h->file->region_holder[place] = NULL;
    h->shared &= (uint8_t)~bit;
    h->exclusive &= (uint8_t)~bit;
}

static bool can_lock_region(const handle *h, int place, bool is_exclusive) {
    const file *f = h->file;
    if (f->region_holder[place] && f->region_holder[place] != h) return false;
    bool is_mine = h->shared & 1 << place;
    return !is_exclusive || f->region_shared[place] == (is_mine ? 1 : 0);
}

static void lock_region(handle *h, int place, bool is_exclusive) {
    uint8_t bit = (uint8_t)(1 << place);
    if (is_exclusive) {
        h->file->region_holder[place] = h;
        h->exclusive |= bit;
    } else if (!(h->shared & bit)) {
        h->file->region_shared[place]++;
        h->shared |= bit;
    }
}

static int lock_regions(sqlite3_file *base, int first, int count, int flags) {
    handle *h = of(base);
    if (is_dead(h)) return flags & SQLITE_SHM_UNLOCK ? SQLITE_OK : SQLITE_IOERR_SHMLOCK;
    bool is_exclusive = flags & SQLITE_SHM_EXCLUSIVE;
    if (flags & SQLITE_SHM_LOCK)
        for (int i = first; i < first + count; i++)
            if (!can_lock_region(h, i, is_exclusive)) return SQLITE_BUSY;
    for (int i = first; i < first + count; i++) {
        if (flags & SQLITE_SHM_UNLOCK) unlock_region(h, i);
        else lock_region(h, i, is_exclusive);
    }
    return SQLITE_OK;
}

static void barrier(sqlite3_file *base) { (void)base; }

static int unmap_regions(sqlite3_file *base, int must_delete) {
    (void)must_delete;
    handle *h = of(base);
    file *f = h->file;
    if (is_dead(h) || !h->has_regions) return SQLITE_OK;
    for (int i = 0; i < LOCK_COUNT; i++) unlock_region(h, i);
    h->has_regions = false;
    if (--f->user_count > 0) return SQLITE_OK;
    for (int i = 0; i < f->region_count; i++) free(f->regions[i]);
    f->region_count = 0;
    return SQLITE_OK;
}

// MARK: What a file is

static int control(sqlite3_file *base, int operation, void *argument) {
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *base) {
    (void)base;
    return 4096;  // as SQLite assumes on Linux
}

static int characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;  // as SQLite assumes on Linux
}

static int close_file(sqlite3_file *base) {
    handle *h = of(base);
    if (!h->disk) {
        file_free(h->file);
        return SQLITE_OK;
    }
    unmap_regions(base, 0);
    unlock_file(base, SQLITE_LOCK_NONE);
    if (h->is_deleted_on_close && !is_dead(h)) file_delete(h->disk, h->file, false);
    disk_closed(h->disk);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_region,
    .xShmLock = lock_regions,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_regions,
};

// MARK: Names

static int open_file(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out_flags) {
    (void)vfs;
    handle *h = of(base);
    memset(h, 0, sizeof *h);
    if (!path) {
        h->file = file_new("temporary");
        if (!h->file) return SQLITE_NOMEM;
    } else {
        const char *name;
        h->disk = disk_of_path(path, &name);
        if (!h->disk) return SQLITE_CANTOPEN;
        h->file = file_named(h->disk, name);
        if (!h->file || !h->file->exists) {
            if (!(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
            if (!(h->file = file_make(h->disk, name))) return SQLITE_NOMEM;
        }
        h->life = h->disk->life;
        h->is_deleted_on_close = flags & SQLITE_OPEN_DELETEONCLOSE;
        h->disk->open_count++;
    }
    base->pMethods = &methods;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder) {
    (void)vfs;
    const char *name;
    fault_disk *disk = disk_of_path(path, &name);
    file *f = disk ? file_named(disk, name) : NULL;
    if (!f || !f->exists) return SQLITE_IOERR_DELETE_NOENT;
    fault_disk_kind how;
    if (disk_call_fails(disk, CALL_WRITE, &how)) return SQLITE_IOERR_DELETE;
    file_delete(disk, f, sync_folder);
    return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *is_there) {
    (void)vfs, (void)flags;
    const char *name;
    fault_disk *disk = disk_of_path(path, &name);
    file *f = disk ? file_named(disk, name) : NULL;
    *is_there = f && f->exists;
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *path, int count, char *into) {
    (void)vfs;
    sqlite3_snprintf(count, into, "%s", path);
    return SQLITE_OK;
}

static sqlite3_vfs file_system;
static sqlite3_vfs *machine(void) { return file_system.pAppData; }

static int randomness(sqlite3_vfs *vfs, int count, char *into) {
    (void)vfs;
    return machine()->xRandomness(machine(), count, into);
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;  // nobody else could let go of what is waited for
}

static int current_time(sqlite3_vfs *vfs, double *time) {
    (void)vfs;
    return machine()->xCurrentTime(machine(), time);
}

static int last_error(sqlite3_vfs *vfs, int count, char *into) {
    (void)vfs, (void)count, (void)into;
    return 0;
}

static sqlite3_vfs file_system = {
    .iVersion = 1,
    .szOsFile = sizeof(handle),
    .mxPathname = 512,
    .zName = "parley-fault",
    .xOpen = open_file,
    .xDelete = delete_file,
    .xAccess = access_file,
    .xFullPathname = full_path,
    .xRandomness = randomness,
    .xSleep = sleep_for,
    .xCurrentTime = current_time,
    .xGetLastError = last_error,
};

int fault_disk_register(void) {
    // SQLite's own lock covers the registration; to set the same pointer twice is harmless.
    if (sqlite3_vfs_find(file_system.zName)) return SQLITE_OK;
    sqlite3_vfs *standard = sqlite3_vfs_find(NULL);
    if (!standard) return SQLITE_ERROR;
    file_system.pAppData = standard;
    return sqlite3_vfs_register(&file_system, 0);
}
