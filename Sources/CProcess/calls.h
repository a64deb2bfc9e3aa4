#ifndef CALLS_H
#define CALLS_H

/// Leaves this process, and what it executes, the system calls of a program that reads its input, thinks
/// and writes its output. With a network also those of a client. Returns 0, or the error's number.
int parley_forbid_calls(int has_network);

#endif
