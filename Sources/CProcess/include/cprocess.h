#ifndef CPROCESS_H
#define CPROCESS_H

#include "ccage.h"

/// Keeps the memory of this process out of core dumps and away from debuggers of the same user.
///
/// Returns 0, or the error number of the step that failed.
int parley_process_forbid_dumps(void);

#endif
