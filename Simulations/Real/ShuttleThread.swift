internal import CTunnel
internal import Foundation
internal import Glibc
internal import Synchronization

/// Carries packets between TUN devices, each in a namespace of its own, on a thread.
final class ShuttleThread: Sendable {
    /// The longest packet that a device of ours sends, in bytes: more than any MTU in use.
    private static let packetByteCountMax = 65_536
    /// Packets of one device that are read before others have their turn.
    private static let turnCountMax = 64

    private let state: Mutex<Shuttle>
    private let descriptors: [Int32]
    /// Closed at its writing end to end the thread.
    private let stop: (read: Int32, write: Int32)
    private let ended = DispatchSemaphore(value: 0)

    /// Opens a device of this name in each namespace, and begins to carry.
    init(_ shuttle: Shuttle, namespaces: [String], device: String) throws(RealFailure) {
        var opened: [Int32] = []
        for namespace in namespaces {
            let descriptor = parley_tunnel_open("/run/netns/" + namespace, device)
            guard descriptor >= 0 else {
                for other in opened { close(other) }
                throw RealFailure("no TUN device in \(namespace): \(message(-descriptor))")
            }
            opened.append(descriptor)
        }
        do throws(RealFailure) {
            stop = try connectedEnds()
        } catch {
            for other in opened { close(other) }
            throw error
        }
        state = Mutex(shuttle)
        descriptors = opened
        Thread.detachNewThread { self.carry() }
    }

    /// Changes how lines behave, from the next packet on.
    func change(_ body: (inout Shuttle) -> Void) { state.withLock { body(&$0) } }

    /// Packets delivered and lost until now.
    var counts: (delivered: Int, lost: Int) {
        state.withLock { ($0.deliveredCount, $0.lostCount) }
    }

    /// Ends the thread and closes the devices, which go away with that. Once only.
    func end() {
        close(stop.write)
        ended.wait()
        close(stop.read)
        for descriptor in descriptors { close(descriptor) }
    }

    private func carry() {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        polled.append(pollfd(fd: stop.read, events: 0, revents: 0))
        var buffer = [UInt8](repeating: 0, count: Self.packetByteCountMax)
        while true {
            deliver()
            let count = poll(&polled, nfds_t(polled.count), wait())
            if count < 0, errno != EINTR { break }
            if polled[descriptors.count].revents != 0 { break }
            for place in descriptors.indices where polled[place].revents != 0 {
                receive(from: place, into: &buffer)
            }
        }
        ended.signal()
    }

    /// How long nothing is due, in milliseconds; rounded up, or the thread would spin.
    private func wait() -> Int32 {
        guard let due = state.withLock({ $0.nextDue }) else { return 1_000 }
        let now = Self.now()
        return due <= now ? 0 : Int32(min((due - now + 999) / 1_000, 1_000))
    }

    private func receive(from place: Int, into buffer: inout [UInt8]) {
        for _ in 0..<Self.turnCountMax {
            let count = read(descriptors[place], &buffer, buffer.count)
            guard count > 0 else { return }
            let packet = Array(buffer.prefix(count))
            state.withLock { $0.take(packet, from: place, at: Self.now()) }
        }
    }

    private func deliver() {
        let now = Self.now()
        while let (to, packet) = state.withLock({ $0.arrived(by: now) }) {
            // A device that is down or full takes nothing: the packet is lost, as on any line.
            _ = write(descriptors[to], packet, packet.count)
        }
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}

/// What the system says about an error number.
func message(_ number: Int32) -> String { String(cString: strerror(number)) }
