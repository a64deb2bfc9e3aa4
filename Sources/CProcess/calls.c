// The calls that a program in a cage may make: what is not listed here it cannot. Between fork and exec
// nothing is called that takes a lock.
#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "no filter of calls for this processor"
#endif

// Names memory for whoever looks at it; older headers lack it.
#define NAMES_MEMORY 0x53564d41

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE(error) ANSWER(SECCOMP_RET_ERRNO | (error))
#define PASS ANSWER(SECCOMP_RET_ALLOW)
// Passes if this is what was loaded.
#define PASS_IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), PASS
#define ALLOW(call) PASS_IF(__NR_##call)
// What the next lines, so many, say of this call alone. Each such part ends with an answer.
#define OF(call, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, (count))
#define REFUSE_WITH(bits, error) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), REFUSE(error)
#define REFUSE_UNLESS(value, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), REFUSE(error)

// Whoever opens may read. Where Landlock is missing this alone keeps a program from writing.
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

int parley_forbid_calls(int has_network) {
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        // Numbers of another way to call the same kernel.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        // Reading and writing what is open.
        ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(pread64), ALLOW(pwrite64),
        ALLOW(preadv), ALLOW(pwritev), ALLOW(lseek), ALLOW(close), ALLOW(close_range), ALLOW(dup),
        ALLOW(dup3), ALLOW(pipe2), ALLOW(eventfd2), ALLOW(epoll_create1), ALLOW(epoll_ctl),
        ALLOW(epoll_pwait), ALLOW(pselect6), ALLOW(ppoll), ALLOW(fadvise64),
        // Memory and threads.
        ALLOW(mmap), ALLOW(munmap), ALLOW(mprotect), ALLOW(mremap), ALLOW(madvise), ALLOW(brk),
        ALLOW(futex), ALLOW(set_robust_list), ALLOW(rseq), ALLOW(set_tid_address),
        ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(sched_getattr), ALLOW(sched_getparam),
        ALLOW(sched_getscheduler), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min),
        ALLOW(exit), ALLOW(exit_group), ALLOW(rt_sigaction), ALLOW(rt_sigprocmask),
        ALLOW(rt_sigreturn), ALLOW(sigaltstack), ALLOW(restart_syscall),
        // Time, and what it is told of itself and the machine.
        ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(gettimeofday), ALLOW(nanosleep),
        ALLOW(clock_nanosleep), ALLOW(getrandom), ALLOW(uname), ALLOW(sysinfo), ALLOW(times),
        ALLOW(getrusage), ALLOW(getpid), ALLOW(gettid), ALLOW(getppid), ALLOW(getpgid),
        ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(getresuid),
        ALLOW(getresgid), ALLOW(getcwd),
        // What lies where: Landlock bounds what can be opened, and nothing bounds this.
        ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(statfs), ALLOW(fstatfs),
        ALLOW(faccessat), ALLOW(readlinkat), ALLOW(getdents64),
        // It begins so. Another program would be in this cage as well.
        ALLOW(execve),
#ifdef __NR_open
        // Older numbers for the same.
        ALLOW(stat), ALLOW(lstat), ALLOW(access), ALLOW(readlink), ALLOW(pipe), ALLOW(dup2),
        ALLOW(poll), ALLOW(select), ALLOW(epoll_create), ALLOW(epoll_wait), ALLOW(eventfd),
        ALLOW(getdents), ALLOW(time), ALLOW(getpgrp), ALLOW(getrlimit), ALLOW(arch_prctl),
        OF(open, 4), LOAD(args[1]), REFUSE_WITH(WRITES, EPERM), PASS,
#endif
        OF(openat, 4), LOAD(args[2]), REFUSE_WITH(WRITES, EPERM), PASS,
        // Threads, and no processes. Of the newer call the flags cannot be read: libraries take this one.
        OF(clone, 4), LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        REFUSE(EPERM), PASS,
        // A program that gives up signals itself, and nobody else.
        OF(tgkill, 4), LOAD(args[0]), REFUSE_UNLESS((unsigned)getpid(), EPERM), PASS,
        // No owner of a file, to whom the kernel would send signals.
        OF(fcntl, 17), LOAD(args[1]), PASS_IF(F_DUPFD), PASS_IF(F_DUPFD_CLOEXEC),
        PASS_IF(F_GETFD), PASS_IF(F_SETFD), PASS_IF(F_GETFL), REFUSE_UNLESS(F_SETFL, EPERM),
        LOAD(args[2]), REFUSE_WITH(O_ASYNC, EPERM), PASS,
        OF(ioctl, 12), LOAD(args[1]), PASS_IF(TCGETS), PASS_IF(FIONBIO), PASS_IF(FIONREAD),
        PASS_IF(FIOCLEX), PASS_IF(FIONCLEX), REFUSE(ENOTTY),
        OF(prctl, 8), LOAD(args[0]), PASS_IF(PR_SET_NAME), PASS_IF(PR_GET_NAME),
        PASS_IF(NAMES_MEMORY), REFUSE(EPERM),
        BPF_STMT(BPF_LD | BPF_IMM, has_network ? 1 : 0),
        // As on a kernel that has no such call: libraries do without.
        REFUSE_UNLESS(1, ENOSYS),
        LOAD(nr),
        ALLOW(connect), ALLOW(sendto), ALLOW(recvfrom), ALLOW(sendmsg), ALLOW(recvmsg),
        ALLOW(shutdown), ALLOW(getsockname), ALLOW(getpeername), ALLOW(getsockopt),
        ALLOW(setsockopt), ALLOW(socketpair),
        OF(socket, 17), LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0),
        REFUSE_UNLESS(AF_INET6, EPERM),
        // One of datagrams is made to learn whether there is such a network at all.
        LOAD(args[1]), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 2, 0), REFUSE_UNLESS(SOCK_STREAM, EPERM),
        LOAD(args[2]), PASS_IF(0), PASS_IF(IPPROTO_TCP), PASS_IF(IPPROTO_UDP), REFUSE(EPERM),
        REFUSE(ENOSYS),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return errno;
    return 0;
}
