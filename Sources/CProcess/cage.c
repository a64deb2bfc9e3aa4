// A child that decodes foreign bytes. Between fork and exec nothing is called that takes a lock: other
// threads of the parent may have held it.
#define _GNU_SOURCE
#include "ccage.h"

#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// What kernels after the system's headers know: calls to ports, and signals out of a domain.
#define CALLS_PORTS (3ULL << 0)
#define CALL_TO_PORT (1ULL << 1)
#define PORT_RULE 2
#define NAMELESS_SOCKETS_AND_SIGNALS (3ULL << 0)

struct rule_set {
    unsigned long long files;
    unsigned long long ports;
    unsigned long long scopes;
};

struct port_rule {
    unsigned long long access;
    unsigned long long port;
};

static const unsigned long long reads =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;

static void allow(int rules, int file, unsigned long long access) {
    struct landlock_path_beneath_attr rule = {access, file};
    syscall(__NR_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void allow_path(int rules, const char *path, unsigned long long access) {
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0) return;
    allow(rules, file, access);
    close(file);
}

static int landlock_version(void) {
    return (int)syscall(
        __NR_landlock_create_ruleset, (void *)0, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

// Bounds what can be opened, called and signalled. Kernels before 5.13, and some that were built without,
// cannot: there the rights of the user and the filter of calls hold. Later ones can more of it.
static int forbid_files(const struct parley_cage *cage) {
    int version = landlock_version();
    if (version < 1) return 0;
    struct rule_set all = {(1ULL << 13) - 1, 0, 0};
    // Later versions know more of the same: none of it is allowed here.
    if (version >= 2) all.files |= 1ULL << 13;
    if (version >= 3) all.files |= 1ULL << 14;
    if (version >= 4) all.ports = CALLS_PORTS;
    if (version >= 5) all.files |= 1ULL << 15;
    if (version >= 6) all.scopes = NAMELESS_SOCKETS_AND_SIGNALS;
    // What a version does not know is no part of its structure.
    size_t size = version >= 6 ? sizeof all : version >= 4 ? 2 * sizeof all.files : sizeof all.files;
    int rules = (int)syscall(__NR_landlock_create_ruleset, &all, size, 0);
    if (rules < 0) return errno;
    struct port_rule port = {CALL_TO_PORT, cage->port};
    if (cage->port && version >= 4)
        syscall(__NR_landlock_add_rule, rules, PORT_RULE, &port, 0);
    static const char *const folders[] = {
        "/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/gnu/store", "/etc/ld.so.cache",
        "/etc/fonts", "/sys/devices/system/cpu", "/proc/self",
    };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        allow_path(rules, folders[i], reads);
    // Whom a secure connection trusts.
    static const char *const trusted[] = {
        "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki",
        "/etc/ca-certificates",
    };
    for (size_t i = 0; cage->port && i < sizeof trusted / sizeof trusted[0]; i++)
        allow_path(rules, trusted[i], reads);
    allow_path(rules, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE);
    allow_path(rules, "/dev/urandom", LANDLOCK_ACCESS_FS_READ_FILE);
    // Its input may be opened once more by its number.
    if (cage->input >= 0) allow(rules, 0, LANDLOCK_ACCESS_FS_READ_FILE);
    int failure = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) failure = errno;
    if (!failure && syscall(__NR_landlock_restrict_self, rules, 0) != 0) failure = errno;
    close(rules);
    return failure;
}

static int limit(int resource, unsigned long long value) {
    struct rlimit bound = {value, value};
    return setrlimit(resource, &bound) != 0 ? errno : 0;
}

static int limit_all(const struct parley_cage *cage) {
    int failure = limit(RLIMIT_CORE, 0);
    // What it writes to counts; programs and libraries that it maps do not, and have a bound of their own.
    if (!failure) failure = limit(RLIMIT_DATA, cage->memory_byte_count);
    if (!failure) failure = limit(RLIMIT_AS, 4 * cage->memory_byte_count);
    if (!failure) failure = limit(RLIMIT_CPU, cage->processor_seconds);
    if (!failure) failure = limit(RLIMIT_FSIZE, cage->file_byte_count);
    if (!failure) failure = limit(RLIMIT_NOFILE, 64);
    return failure;
}

static int place_files(const struct parley_cage *cage, int report) {
    int files[3] = {cage->input, cage->output, cage->errors};
    // High first: one of them may bear the number of another one's place.
    for (int i = 0; i < 3; i++) {
        int file = files[i] >= 0 ? files[i] : open("/dev/null", O_RDWR | O_CLOEXEC);
        if (file < 0) return errno;
        files[i] = fcntl(file, F_DUPFD_CLOEXEC, 64);
        if (files[i] < 0) return errno;
    }
    report = fcntl(report, F_DUPFD_CLOEXEC, 64);
    if (report < 0) return errno;
    for (int i = 0; i < 3; i++)
        if (dup2(files[i], i) < 0) return errno;
    // Its number is known behind this, and it closes itself at the exec.
    if (dup3(report, 3, O_CLOEXEC) < 0) return errno;
    if (syscall(__NR_close_range, 4U, ~0U, 0U) == 0) return 0;
    long count = sysconf(_SC_OPEN_MAX);
    for (int file = 4; file < count && file < 65536; file++) close(file);
    return 0;
}

static int enter(const struct parley_cage *cage, int report, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, (void *)0);
    // With a session of its own no terminal is its.
    if (setsid() < 0) return errno;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
    if (getppid() != parent) return ESRCH;
    int failure = place_files(cage, report);
    if (failure) return failure;
    if (chdir("/") != 0) return errno;
    // Where the system lets nobody do so, the filter of calls stands alone.
    int spaces = CLONE_NEWUSER | CLONE_NEWIPC | (cage->port ? 0 : CLONE_NEWNET);
    int has_space = unshare(spaces) == 0;
    failure = limit_all(cage);
    // Older kernels count all processes of the user, also there.
    if (!failure && has_space && landlock_version() >= 4) failure = limit(RLIMIT_NPROC, 64);
    if (!failure) failure = forbid_files(cage);
    if (!failure) failure = parley_forbid_calls(cage->port != 0);
    return failure;
}

pid_t parley_cage_start(const struct parley_cage *cage) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    pid_t parent = getpid();
    // No handler of this process runs in the child before it has its own.
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pid_t child = fork();
    int number = errno;
    if (child == 0) {
        int failure = enter(cage, ends[1], parent);
        if (!failure) {
            execve(cage->program, cage->words, cage->environment);
            failure = errno;
        }
        // Where the files were not placed yet the first end still stands.
        if (write(3, &failure, sizeof failure) < 0) (void)!write(ends[1], &failure, sizeof failure);
        _exit(127);
    }
    pthread_sigmask(SIG_SETMASK, &former, (void *)0);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return -number;
    }
    int failure = 0;
    ssize_t count;
    do count = read(ends[0], &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    close(ends[0]);
    if (count != sizeof failure) return child;
    while (waitpid(child, (void *)0, 0) < 0 && errno == EINTR) {}
    return failure > 0 ? -failure : -EIO;
}

int parley_memory_file(void) { return memfd_create("parley", MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int parley_seal_memory_file(int file) {
    return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

int parley_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
