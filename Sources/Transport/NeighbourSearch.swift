import Glibc
import NIOCore
import NIOPosix
import ParleyWire

/// Looks for other nodes on the local networks of this machine, and is found there if it listens,
/// until it ends.
///
/// One socket for each address of this machine (IPv4), in the group of multicast DNS. Networks that
/// come and go are noticed within seconds. Where no socket can be made, nobody is found.
///
/// Unchecked, because its state is plain variables; safe, because they are touched on `loop` alone.
public final class NeighbourSearch: @unchecked Sendable {
    /// Its orders and questions.
    public struct Delegate: Sendable {
        /// Draws a name that nobody has heard before.
        public var name: @Sendable () -> LocalName
        /// A neighbour is at this address.
        public var heard: @Sendable (Neighbour, _ host: String) -> Void
        /// The networks are others now.
        public var moved: @Sendable () -> Void

        /// A delegate of these parts.
        public init(
            name: @escaping @Sendable () -> LocalName,
            heard: @escaping @Sendable (Neighbour, _ host: String) -> Void,
            moved: @escaping @Sendable () -> Void
        ) {
            self.name = name
            self.heard = heard
            self.moved = moved
        }
    }

    /// Where and how to listen on one network.
    private struct Place: Hashable {
        let device: String
        let address: String
    }

    private static let group = "224.0.0.251"
    private static let port = 5353
    /// Networks are looked at so often.
    private static let lookInterval = TimeAmount.seconds(5)
    /// Of networks so many are used.
    private static let placeCountMax = 16

    private let loop: any EventLoop
    private let delegate: Delegate
    private var neighbourhood: Neighbourhood
    private var channels: [Place: any Channel] = [:]
    private var places: Set<Place> = []
    private var renameAt: UInt64
    private var hasEnded = false

    init(loop: any EventLoop, port: UInt16?, delegate: Delegate) {
        self.loop = loop
        self.delegate = delegate
        neighbourhood = Neighbourhood(port: port, name: delegate.name(), at: Self.now)
        renameAt = Self.now + Neighbourhood.nameLifetime
        loop.execute {
            self.look()
            self.tick()
        }
    }

    /// Withdraws what was announced, and ends.
    public func end() async {
        let closed = loop.flatSubmit { () -> EventLoopFuture<Void> in
            self.hasEnded = true
            self.perform(self.neighbourhood.farewell())
            let channels = self.channels.values.map { $0.close() }
            self.channels = [:]
            return EventLoopFuture.andAllComplete(channels, on: self.loop)
        }
        // It cannot fail: each close is waited for, whatever its result.
        try? await closed.get()
    }

    private static var now: UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }

    // MARK: On the loop

    private func tick() {
        guard !hasEnded else { return }
        let now = Self.now
        if now >= renameAt {
            renameAt = now + Neighbourhood.nameLifetime
            perform(neighbourhood.rename(delegate.name(), at: now))
        }
        perform(neighbourhood.tick(at: now))
        let due = min(neighbourhood.nextDue, renameAt)
        // Whatever is asked meanwhile is answered a little later.
        let wait = min(max(due, now + 20) - now, 250)
        loop.scheduleTask(in: .milliseconds(Int64(wait))) { [weak self] in self?.tick() }
    }

    /// Looks which networks there are, and joins those that are new.
    private func look() {
        guard !hasEnded else { return }
        let found = Self.findPlaces()
        for (place, channel) in channels where !found.contains(place) {
            channels[place] = nil
            channel.close(promise: nil)
        }
        for place in found where channels[place] == nil { join(place) }
        if found != places, !places.isEmpty { delegate.moved() }
        if found != places { neighbourhood.moved(at: Self.now) }
        places = found
        loop.scheduleTask(in: Self.lookInterval) { [weak self] in self?.look() }
    }

    private static func findPlaces() -> Set<Place> {
        // A machine that does not tell its devices has none.
        let devices = (try? System.enumerateDevices()) ?? []
        var found: [String: Place] = [:]
        for device in devices where device.multicastSupported {
            guard let address = device.address, address.protocol == .inet,
                let host = address.ipAddress, !host.hasPrefix("127."), found[device.name] == nil,
                found.count < placeCountMax
            else { continue }
            found[device.name] = Place(device: device.name, address: host)
        }
        return Set(found.values)
    }

    private func join(_ place: Place) {
        let received: @Sendable ([UInt8], String) -> Void = { [weak self] bytes, host in
            self?.received(bytes, from: host)
        }
        let ip = SocketOptionLevel(0)
        let bootstrap = DatagramBootstrap(group: loop)
            .channelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .channelOption(
                ChannelOptions.socket(SocketOptionLevel(SOL_SOCKET), SO_REUSEPORT), value: 1
            )
            .channelOption(ChannelOptions.socket(ip, IP_MULTICAST_TTL), value: 255)
            // Of datagrams to the group, only those on this device.
            .channelOption(ChannelOptions.socket(ip, IP_MULTICAST_ALL), value: 0)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramHandler(received))
                }
            }
        bootstrap.bind(host: Self.group, port: Self.port).flatMap { channel in
            self.enter(place, on: channel).map { channel }
        }.whenSuccess { channel in
            guard !self.hasEnded, self.channels[place] == nil else {
                return channel.close(promise: nil)
            }
            self.channels[place] = channel
            self.neighbourhood.moved(at: Self.now)
        }
    }

    /// Joins the group on one device, and sends on it.
    private func enter(_ place: Place, on channel: any Channel) -> EventLoopFuture<Void> {
        do {
            guard let multicast = channel as? any MulticastChannel,
                let device = try System.enumerateDevices().first(where: {
                    $0.name == place.device && $0.address?.ipAddress == place.address
                })
            else { throw ChannelError.operationUnsupported }
            let group = try SocketAddress(ipAddress: Self.group, port: Self.port)
            let address = UInt32(bytes: DNSMessage.addressBytes(place.address)).bigEndian
            return multicast.joinGroup(group, device: device).flatMap {
                // Eight bytes are taken for two addresses as they are sent, of which the second
                // names the device.
                channel.setOption(
                    ChannelOptions.socket(SocketOptionLevel(0), IP_MULTICAST_IF),
                    value: SocketOptionValue(address) << 32)
            }
        } catch {
            channel.close(promise: nil)
            return loop.makeFailedFuture(error)
        }
    }

    private func received(_ bytes: [UInt8], from host: String) {
        guard !hasEnded else { return }
        // A datagram that is no such message is not for us: others use the group as well.
        guard let message = try? DNSMessage.decode(bytes) else { return }
        for event in neighbourhood.receive(message, at: Self.now) {
            if case .heard(let neighbour) = event { delegate.heard(neighbour, host) }
        }
    }

    private func perform(_ events: [Neighbourhood.Event]) {
        // The group is an address.
        guard let group = try? SocketAddress(ipAddress: Self.group, port: Self.port) else {
            preconditionFailure("the group must be an address")
        }
        for case .send(let message) in events {
            for (place, channel) in channels {
                let bytes = message.naming(place.address).encoded
                let data = channel.allocator.buffer(bytes: bytes)
                // A network that does not take it is as good as none.
                channel.writeAndFlush(
                    AddressedEnvelope(remoteAddress: group, data: data), promise: nil)
            }
        }
    }
}

extension DNSMessage {
    /// The same with this address in place of the one that is not known yet.
    fileprivate func naming(_ address: String) -> DNSMessage {
        let bytes = Self.addressBytes(address)
        var copy = self
        for index in copy.records.indices {
            if case .address = copy.records[index].content {
                copy.records[index].content = .address(bytes)
            }
        }
        return copy
    }
}

extension DNSMessage {
    /// The four bytes of an address.
    fileprivate static func addressBytes(_ address: String) -> [UInt8] {
        address.split(separator: ".").compactMap { UInt8($0) }
    }
}

extension UInt32 {
    /// The number that bytes say, the first of which weighs most.
    fileprivate init(bytes: [UInt8]) { self = bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// Passes on what comes from the port of multicast DNS.
private final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let received: (_ bytes: [UInt8], _ host: String) -> Void

    init(_ received: @escaping (_ bytes: [UInt8], _ host: String) -> Void) {
        self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard envelope.remoteAddress.port == 5353, let host = envelope.remoteAddress.ipAddress
        else { return }
        received(Array(envelope.data.readableBytesView), host)
    }
}

extension Transport {
    /// Begins to look for other nodes on the local networks, and to be found there by the port that
    /// this node listens on, if any.
    public func seekNeighbours(
        port: UInt16?, delegate: NeighbourSearch.Delegate
    ) -> NeighbourSearch {
        NeighbourSearch(loop: eventLoop, port: port, delegate: delegate)
    }
}
