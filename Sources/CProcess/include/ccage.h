#ifndef CCAGE_H
#define CCAGE_H

#include <sys/types.h>

/// What a child may reach and use.
struct parley_cage {
    /// The program's path, its words and its environment, each list ended by a null pointer.
    const char *program;
    char *const *words;
    char *const *environment;
    /// What it finds as its standard input, output and errors; -1 for nothing.
    int input;
    int output;
    int errors;
    /// The port of other machines that it may call; 0 for none: then it can make no socket.
    unsigned port;
    /// Bytes of memory that it may write to, and seconds of a processor.
    unsigned long long memory_byte_count;
    unsigned long long processor_seconds;
    /// Bytes of a file that it writes.
    unsigned long long file_byte_count;
};

/// Starts a program in a cage: it leads a process group of its own, has no file of this process, reads
/// the system's programs and libraries and its standard input and nothing else, writes to its outputs and
/// nowhere else, starts no process, signals none, changes no file's mode, owner, times or attributes, and
/// ends with the thread that called. It has the system calls that are listed for that, and no others.
///
/// Returns the process, or the error number, negative, of the step that failed: then there is none.
pid_t parley_cage_start(const struct parley_cage *cage);

/// A file in memory that has no name; -1 where there is none.
int parley_memory_file(void);

/// Ends all changes to such a file: who is given it to read cannot write to it.
int parley_seal_memory_file(int file);

/// A pipe, neither end of which any child finds open. Returns 0, or -1 with the error's number.
int parley_pipe(int ends[2]);

#endif
