// prctl is variadic, which Swift cannot call.
#include "cprocess.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int parley_process_forbid_dumps(void) {
    // The limit stops files; a handler that the kernel pipes to is stopped by the other alone.
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
    return 0;
}
