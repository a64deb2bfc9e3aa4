#ifndef CPROCESS_H
#define CPROCESS_H

#include "ccage.h"

/// Keeps the memory of this process out of core dumps and away from debuggers of the same user.
///
/// Returns 0, or the error number of the step that failed.
int parley_process_forbid_dumps(void);

/// Has a program that is spawned begin with all files closed from this number on. Returns 0, or an errno.
///
/// `actions` is a `posix_spawn_file_actions_t`, whose header would make the system's types this module's.
int parley_spawn_close_from(void *actions, int first);

/// Takes a terminal for a program that draws all of it: raw keys, another screen. It is given back also where
/// the program ends by a fault of its own. Returns 0, or an errno.
int parley_terminal_take(int input, int output);

/// Gives it back as it was; nothing where it is not taken.
void parley_terminal_give_back(void);

#endif
