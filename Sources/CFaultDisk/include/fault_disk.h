// A disk in memory that breaks: SQLite writes to it through the file system "parley-fault".
//
// Every file has two contents: what processes see, and what is on the platter. A write changes
// the first and waits; a sync moves what waits to the second. When the power goes, each write
// that waits is kept, dropped, or torn at a boundary of 512 bytes, as the disk's own stream of
// numbers says; names that no sync made durable may vanish, and deleted ones may come back.
// No file of this machine is touched.
//
// A disk is used by one thread at a time; different disks may be used by different threads.

#ifndef FAULT_DISK_H
#define FAULT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A disk; the file `/<name>/<file>` of "parley-fault" lies on it.
typedef struct fault_disk fault_disk;

/// What goes wrong.
typedef enum {
    /// A write finds no room.
    FAULT_DISK_FULL = 0,
    /// A read, a write, a truncation or a sync fails.
    FAULT_DISK_IO = 1,
    /// A sync fails; of what waited for it, some is never written, as on Linux.
    FAULT_DISK_SYNC = 2,
} fault_disk_kind;

/// Makes "parley-fault" known to SQLite; once is enough. Zero, or SQLite's error.
int fault_disk_register(void);

/// A new, empty disk. The name has no slash and no other disk has it; nil without memory.
fault_disk *fault_disk_new(const char *name, uint64_t seed);

/// Lets go of a disk. What is still open on it fails from now on.
void fault_disk_free(fault_disk *disk);

/// Another disk with the same files, all of them durable.
fault_disk *fault_disk_copy(const fault_disk *disk, const char *name, uint64_t seed);

/// Puts the files of `other` in the place of those of `disk`, all durable; open ones fail.
void fault_disk_restore(fault_disk *disk, const fault_disk *other);

/// Makes the `call`-th call from now that such a fault can hit fail. The first is number 1.
///
/// - lasting: whether every later one fails too, until `fault_disk_mend`.
void fault_disk_fail(fault_disk *disk, fault_disk_kind kind, uint64_t call, bool lasting);

/// Forgets a fault that was asked for.
void fault_disk_mend(fault_disk *disk);

/// Somebody looks on from outside: then no call counts and none fails.
void fault_disk_observe(fault_disk *disk, bool is_observed);

/// How often something on it changed so far, whoever looked on.
uint64_t fault_disk_changes(const fault_disk *disk);

/// How many faults came up so far.
uint64_t fault_disk_faults(const fault_disk *disk);

/// The process dies: its open files fail from now on, and what it wrote stays.
void fault_disk_kill(fault_disk *disk);

/// The machine loses its power: as a death, and what was not synced is kept, dropped or torn.
void fault_disk_lose_power(fault_disk *disk);

/// What became of the writes that waited when power was lost, over all losses.
typedef struct {
    uint64_t kept, dropped, torn;
} fault_disk_losses;
fault_disk_losses fault_disk_lost(const fault_disk *disk);

/// Flips these bits of one byte, on the platter as well. False where there is no such byte.
bool fault_disk_rot(fault_disk *disk, const char *file, size_t offset, uint8_t bits);

/// How many files there are.
size_t fault_disk_file_count(const fault_disk *disk);
/// The name of a file, without the disk's.
const char *fault_disk_file_name(const fault_disk *disk, size_t index);
/// Its bytes as processes see them, until the next call.
const uint8_t *fault_disk_file_bytes(const fault_disk *disk, size_t index, size_t *count);

/// Replaces a file as a whole and makes it durable, name included. Zero, or an errno.
int fault_disk_replace(fault_disk *disk, const char *file, const uint8_t *bytes, size_t count);
/// Deletes a file, durably. False where there is none.
bool fault_disk_remove(fault_disk *disk, const char *file);

#endif
