// ioctl and setns: the first is variadic, which Swift cannot call, and the second is hidden from it.
#define _GNU_SOURCE
#include "ctunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct wish {
    const char *namespace_path;
    const char *device;
    int result;
};

static int open_here(const char *device) {
    int descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(descriptor, TUNSETIFF, &request) < 0) {
        int failure = errno;
        close(descriptor);
        return -failure;
    }
    return descriptor;
}

static void *fulfil(void *argument) {
    struct wish *wish = argument;
    int namespace = open(wish->namespace_path, O_RDONLY | O_CLOEXEC);
    if (namespace < 0) {
        wish->result = -errno;
        return NULL;
    }
    int failure = setns(namespace, CLONE_NEWNET) < 0 ? errno : 0;
    close(namespace);
    wish->result = failure ? -failure : open_here(wish->device);
    return NULL;
}

int parley_tunnel_open(const char *namespace_path, const char *device) {
    struct wish wish = {namespace_path, device, -EINVAL};
    pthread_t thread;
    int failure = pthread_create(&thread, NULL, fulfil, &wish);
    if (failure) return -failure;
    pthread_join(thread, NULL);
    return wish.result;
}
