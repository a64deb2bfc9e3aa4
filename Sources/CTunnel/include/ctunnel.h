#ifndef CTUNNEL_H
#define CTUNNEL_H

/// Opens a TUN device of this name inside a network namespace: what is written to the descriptor
/// arrives there as IP packets, and what is sent there is read from it, one packet a read.
///
/// The namespace is entered on a thread of its own, which ends with the call: the caller's thread
/// stays where it is. The descriptor does not block and is closed in child processes.
///
/// @param namespace_path the file that holds the namespace, as /run/netns/name
/// @param device the name of the device, at most 15 bytes
/// @return the descriptor, or the negative errno of what failed
int parley_tunnel_open(const char *namespace_path, const char *device);

#endif
