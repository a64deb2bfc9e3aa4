// prctl is variadic, which Swift cannot call, and what GNU adds to spawning is hidden from it.
#define _GNU_SOURCE
#include "cprocess.h"

#include <errno.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int parley_process_forbid_dumps(void) {
    // The limit stops files; a handler that the kernel pipes to is stopped by the other alone.
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
    return 0;
}

int parley_spawn_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
