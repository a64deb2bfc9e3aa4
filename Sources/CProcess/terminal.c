// A terminal that a program takes for itself, and gives back in whatever way the program ends.

#include "cprocess.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct termios former;
static int input_descriptor, output_descriptor;
static volatile sig_atomic_t is_taken;

// Signals of a program that went wrong by itself; all others are waited for elsewhere.
static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};

// Another screen, no wrapping at its edge, pastes in brackets, and whether the window is looked at.
// Source: xterm, "Control Sequences", DEC private modes 1049, 7, 2004 and 1004.
static const char take[] = "\033[?1049h\033[?7l\033[?2004h\033[?1004h\033[2J";
static const char give[] = "\033[?1006l\033[?1000l\033[?1004l\033[?2004l\033[?7h\033[0m\033[?25h\033[?1049l";

static void write_all(const char *text, size_t count) {
    while (count > 0) {
        ssize_t written = write(output_descriptor, text, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        count -= (size_t)written;
    }
}

void parley_terminal_give_back(void) {
    if (!is_taken) return;
    is_taken = 0;
    write_all(give, sizeof give - 1);
    tcsetattr(input_descriptor, TCSADRAIN, &former);
}

// Calls only what signal-safety(7) lists; the signal then does what it did before.
static void end(int number) {
    int error = errno;
    parley_terminal_give_back();
    errno = error;
    raise(number);
}

int parley_terminal_take(int input, int output) {
    if (is_taken) return 0;
    if (tcgetattr(input, &former) != 0) return errno;
    input_descriptor = input;
    output_descriptor = output;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end;
    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
    for (size_t place = 0; place < sizeof fatal / sizeof *fatal; place++)
        sigaction(fatal[place], &action, NULL);
    struct termios raw = former;
    cfmakeraw(&raw);
    is_taken = 1;
    // What was typed before is for whoever comes now.
    if (tcsetattr(input, TCSADRAIN, &raw) != 0) {
        is_taken = 0;
        return errno;
    }
    write_all(take, sizeof take - 1);
    return 0;
}
