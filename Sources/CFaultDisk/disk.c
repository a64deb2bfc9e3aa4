// Files, the two contents of each, and what becomes of them when power is lost.

#include "disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// MARK: Bytes

static bool reserve(buffer *buffer, size_t count) {
    if (count <= buffer->capacity) return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 4096;
    while (capacity < count) capacity *= 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (!bytes) return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

static bool resize(buffer *buffer, size_t count) {
    if (!reserve(buffer, count)) return false;
    if (count > buffer->count) memset(buffer->bytes + buffer->count, 0, count - buffer->count);
    buffer->count = count;
    return true;
}

static bool overwrite(buffer *buffer, const void *bytes, size_t offset, size_t count) {
    if (offset + count > buffer->count && !resize(buffer, offset + count)) return false;
    if (count) memcpy(buffer->bytes + offset, bytes, count);
    return true;
}

static bool become(buffer *buffer, const struct buffer *other) {
    if (!resize(buffer, other->count)) return false;
    if (other->count) memcpy(buffer->bytes, other->bytes, other->count);
    return true;
}

// MARK: Chance

static uint64_t draw(fault_disk *disk) {
    // SplitMix64, as the streams of the simulator.
    uint64_t mixed = disk->random += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

static bool flip(fault_disk *disk) { return draw(disk) & 1; }

// MARK: Files

file *file_named(const fault_disk *disk, const char *name) {
    for (file *f = disk->files; f; f = f->next)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

file *file_new(const char *name) {
    file *f = calloc(1, sizeof *f);
    if (f && !(f->name = strdup(name))) {
        free(f);
        return NULL;
    }
    return f;
}

static void forget_waiting(file *f) {
    for (change *c = f->waiting, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    f->waiting = f->last_waiting = NULL;
}

void file_free(file *f) {
    forget_waiting(f);
    for (int i = 0; i < f->region_count; i++) free(f->regions[i]);
    free(f->seen.bytes);
    free(f->durable.bytes);
    free(f->name);
    free(f);
}

file *file_make(fault_disk *disk, const char *name) {
    file *f = file_named(disk, name);
    if (!f) {
        if (!(f = file_new(name))) return NULL;
        // In the order in which they were made, so that chance meets them in the same order.
        file **end = &disk->files;
        while (*end) end = &(*end)->next;
        *end = f;
    }
    if (!f->exists) {
        f->exists = true;
        f->seen.count = 0;
        // One of that name may still be on the platter; then its bytes go with the next sync.
        if (f->is_name_durable && !file_truncate(f, 0)) return NULL;
    }
    return f;
}

static bool wait(file *f, const void *bytes, size_t offset, size_t count, bool is_truncation) {
    change *c = malloc(sizeof *c + count);
    if (!c) return false;
    *c = (change){.offset = offset, .count = count, .is_truncation = is_truncation};
    if (count) memcpy(c->bytes, bytes, count);
    if (f->last_waiting) f->last_waiting->next = c;
    else f->waiting = c;
    f->last_waiting = c;
    return true;
}

bool file_write(file *f, const void *bytes, size_t offset, size_t count) {
    return wait(f, bytes, offset, count, false) && overwrite(&f->seen, bytes, offset, count);
}

bool file_truncate(file *f, size_t count) {
    return wait(f, NULL, count, 0, true) && resize(&f->seen, count);
}

static bool reach(file *f, const change *c, size_t from, size_t to) {
    if (c->is_truncation) return resize(&f->durable, c->offset);
    return overwrite(&f->durable, c->bytes + from, c->offset + from, to - from);
}

/// Makes every name in the folder durable, and every deletion: they share it.
static void sync_folder(fault_disk *disk) {
    for (file *f = disk->files; f; f = f->next) {
        f->is_name_durable = f->exists;
        if (!f->exists) f->durable.count = 0;
    }
}

bool file_sync(fault_disk *disk, file *f) {
    for (const change *c = f->waiting; c; c = c->next)
        if (!reach(f, c, 0, c->count)) return false;
    forget_waiting(f);
    // SQLite syncs the folder with the first sync of a file that it made.
    if (disk && !f->is_name_durable) sync_folder(disk);
    return true;
}

void file_delete(fault_disk *disk, file *f, bool is_durable) {
    forget_waiting(f);
    f->exists = false;
    f->seen.count = 0;
    if (is_durable) sync_folder(disk);
}

// MARK: Losses

/// Kept, dropped, or the part before or behind a sector's edge; whether it is all there.
static void reach_by_chance(fault_disk *disk, file *f, const change *c) {
    size_t edge = (c->offset / SECTOR_SIZE + 1) * SECTOR_SIZE;
    bool can_tear = c->count && edge < c->offset + c->count;
    switch (draw(disk) % (can_tear ? 3 : 2)) {
    case 0:
        disk->losses.kept++;
        reach(f, c, 0, c->count);
        return;
    case 1:
        disk->losses.dropped++;
        return;
    default:
        break;
    }
    size_t edges = (c->offset + c->count - edge - 1) / SECTOR_SIZE + 1;
    size_t cut = edge + draw(disk) % edges * SECTOR_SIZE - c->offset;
    disk->losses.torn++;
    if (flip(disk)) reach(f, c, 0, cut);
    else reach(f, c, cut, c->count);
}

void file_sync_failed(fault_disk *disk, file *f) {
    for (const change *c = f->waiting; c; c = c->next) reach_by_chance(disk, f, c);
    forget_waiting(f);
}

static void lose_power(fault_disk *disk, file *f) {
    if (f->exists && f->waiting) file_sync_failed(disk, f);
    if (f->exists != f->is_name_durable) f->exists = flip(disk);
    f->is_name_durable = f->exists;
    if (!f->exists) f->durable.count = 0;
    become(&f->seen, &f->durable);
}

static void drop_locks(fault_disk *disk, file *f) {
    f->shared_count = f->user_count = 0;
    f->writer = f->excluder = NULL;
    memset(f->region_shared, 0, sizeof f->region_shared);
    memset(f->region_holder, 0, sizeof f->region_holder);
    for (int i = 0; i < f->region_count; i++) {
        void **all = realloc(disk->retired, (disk->retired_count + 1) * sizeof *all);
        // Without memory the region is lost rather than taken from whom may still look at it.
        if (!all) continue;
        disk->retired = all;
        disk->retired[disk->retired_count++] = f->regions[i];
    }
    f->region_count = 0;
}

void fault_disk_kill(fault_disk *disk) {
    disk->life++;
    for (file *f = disk->files; f; f = f->next) drop_locks(disk, f);
}

void fault_disk_lose_power(fault_disk *disk) {
    fault_disk_kill(disk);
    for (file *f = disk->files; f; f = f->next) lose_power(disk, f);
}

fault_disk_losses fault_disk_lost(const fault_disk *disk) { return disk->losses; }

// MARK: Faults

void fault_disk_fail(fault_disk *disk, fault_disk_kind kind, uint64_t call, bool lasting) {
    disk->fault.is_set = true;
    disk->fault.is_lasting = lasting;
    disk->fault.kind = kind;
    disk->fault.call = call;
}

void fault_disk_mend(fault_disk *disk) { disk->fault.is_set = false; }
void fault_disk_observe(fault_disk *disk, bool is_observed) { disk->is_observed = is_observed; }
uint64_t fault_disk_changes(const fault_disk *disk) { return disk->changes; }
uint64_t fault_disk_faults(const fault_disk *disk) { return disk->faults; }

static bool can_hit(fault_disk_kind fault, call_kind call) {
    switch (fault) {
    case FAULT_DISK_FULL: return call == CALL_WRITE;
    case FAULT_DISK_SYNC: return call == CALL_SYNC;
    case FAULT_DISK_IO: return true;
    }
    return false;
}

bool disk_call_fails(fault_disk *disk, call_kind kind, fault_disk_kind *how) {
    if (kind == CALL_WRITE) disk->changes++;
    if (disk->is_observed) return false;
    if (!disk->fault.is_set || !can_hit(disk->fault.kind, kind)) return false;
    if (disk->fault.call > 1) {
        disk->fault.call--;
        return false;
    }
    disk->fault.is_set = disk->fault.is_lasting;
    disk->faults++;
    *how = disk->fault.kind;
    return true;
}

bool fault_disk_rot(fault_disk *disk, const char *name, size_t offset, uint8_t bits) {
    file *f = file_named(disk, name);
    if (!f || !f->exists || offset >= f->seen.count) return false;
    f->seen.bytes[offset] ^= bits;
    disk->changes++;
    if (offset < f->durable.count) f->durable.bytes[offset] ^= bits;
    return true;
}

// MARK: Whole files

static const file *file_at(const fault_disk *disk, size_t index) {
    for (const file *f = disk->files; f; f = f->next)
        if (f->exists && index-- == 0) return f;
    return NULL;
}

size_t fault_disk_file_count(const fault_disk *disk) {
    size_t count = 0;
    for (const file *f = disk->files; f; f = f->next) count += f->exists;
    return count;
}

const char *fault_disk_file_name(const fault_disk *disk, size_t index) {
    const file *f = file_at(disk, index);
    return f ? f->name : "";
}

const uint8_t *fault_disk_file_bytes(const fault_disk *disk, size_t index, size_t *count) {
    const file *f = file_at(disk, index);
    *count = f ? f->seen.count : 0;
    return f ? f->seen.bytes : NULL;
}

int fault_disk_replace(fault_disk *disk, const char *name, const uint8_t *bytes, size_t count) {
    fault_disk_kind how;
    // A write and a sync: the faults of both can hit it, and leave the old file alone.
    if (disk_call_fails(disk, CALL_WRITE, &how) || disk_call_fails(disk, CALL_SYNC, &how))
        return how == FAULT_DISK_FULL ? ENOSPC : EIO;
    file *f = file_make(disk, name);
    if (!f || !file_truncate(f, 0) || !file_write(f, bytes, 0, count) || !file_sync(disk, f))
        return ENOMEM;
    sync_folder(disk);
    return 0;
}

bool fault_disk_remove(fault_disk *disk, const char *name) {
    file *f = file_named(disk, name);
    if (!f || !f->exists) return false;
    file_delete(disk, f, true);
    return true;
}

// MARK: Disks

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static fault_disk *registry;

fault_disk *fault_disk_new(const char *name, uint64_t seed) {
    fault_disk *disk = calloc(1, sizeof *disk);
    if (!disk || !(disk->name = strdup(name))) {
        free(disk);
        return NULL;
    }
    disk->random = seed;
    pthread_mutex_lock(&registry_lock);
    disk->next = registry;
    registry = disk;
    pthread_mutex_unlock(&registry_lock);
    return disk;
}

static void destroy(fault_disk *disk) {
    for (file *f = disk->files, *next; f; f = next) {
        next = f->next;
        file_free(f);
    }
    for (size_t i = 0; i < disk->retired_count; i++) free(disk->retired[i]);
    free(disk->retired);
    free(disk->name);
    free(disk);
}

void fault_disk_free(fault_disk *disk) {
    pthread_mutex_lock(&registry_lock);
    fault_disk **place = &registry;
    while (*place && *place != disk) place = &(*place)->next;
    if (*place) *place = disk->next;
    pthread_mutex_unlock(&registry_lock);
    fault_disk_kill(disk);
    disk->is_let_go = true;
    if (disk->open_count == 0) destroy(disk);
}

void disk_closed(fault_disk *disk) {
    disk->open_count--;
    if (disk->is_let_go && disk->open_count == 0) destroy(disk);
}

static bool has(const fault_disk *disk, const char *path, const char **name) {
    size_t length = strlen(disk->name);
    if (strncmp(path + 1, disk->name, length) != 0 || path[1 + length] != '/') return false;
    *name = path + length + 2;
    return true;
}

fault_disk *disk_of_path(const char *path, const char **name) {
    if (!path || path[0] != '/') return NULL;
    pthread_mutex_lock(&registry_lock);
    fault_disk *disk = registry;
    while (disk && !has(disk, path, name)) disk = disk->next;
    pthread_mutex_unlock(&registry_lock);
    return disk;
}

static void take_files(fault_disk *disk, const fault_disk *other) {
    for (const file *f = other->files; f; f = f->next) {
        if (!f->exists) continue;
        file *mine = file_make(disk, f->name);
        if (!mine) continue;
        forget_waiting(mine);
        become(&mine->seen, &f->seen);
        become(&mine->durable, &f->seen);
        mine->is_name_durable = true;
    }
}

fault_disk *fault_disk_copy(const fault_disk *other, const char *name, uint64_t seed) {
    fault_disk *disk = fault_disk_new(name, seed);
    if (disk) take_files(disk, other);
    return disk;
}

void fault_disk_restore(fault_disk *disk, const fault_disk *other) {
    fault_disk_kill(disk);
    for (file *f = disk->files; f; f = f->next) file_delete(disk, f, true);
    take_files(disk, other);
}
