internal import ParleySimulation

/// How packets travel from one place to another.
public struct Line: Equatable, Sendable {
    /// How long a packet takes, in microseconds: drawn anew for each, so packets overtake each
    /// other as they do outside.
    public var delay: ClosedRange<UInt64> = 0...0
    /// How many in a thousand are lost.
    public var lossPerMille: UInt64 = 0
    /// How many in a thousand come twice.
    public var repeatPerMille: UInt64 = 0
    /// Bytes that pass in a second; any number where nil.
    public var bytesPerSecond: UInt64?
    /// Whether nothing passes.
    public var isCut = false

    /// A line with nothing wrong.
    public init() {}
}

/// Packets on their way between places, as a value: what waits, and when it comes out.
///
/// It does what the kernel's netem would, where a kernel has none. It reads no clock and opens
/// nothing; ``ShuttleThread`` feeds it.
public struct Shuttle: Sendable {
    /// Bytes on all lines together; what comes on top is lost, as in a router.
    public static let byteCountMax = 32 << 20
    /// What waits for a slow line, in microseconds of sending; what comes on top is lost.
    public static let backlogMax: UInt64 = 1_000_000

    private struct Flight: Sendable {
        var due: UInt64
        var number: UInt64
        var to: Int
        var packet: [UInt8]
    }

    /// How many places there are; the first has the address that ends in 1.
    public let placeCount: Int
    /// Packets that were lost, on purpose or for want of room.
    public private(set) var lostCount = 0
    /// Packets that were handed out.
    public private(set) var deliveredCount = 0

    private var lines: [Line]
    /// When each line has sent all that it took, in microseconds.
    private var freeAt: [UInt64]
    /// The next one last.
    private var flights: [Flight] = []
    private var byteCount = 0
    private var flightCount: UInt64 = 0
    private var random: SeededRandom

    /// Lines with nothing wrong between so many places, fewer than 255.
    public init(placeCount: Int, seed: UInt64) {
        precondition(placeCount < 255, "places are numbered by one byte of their address")
        self.placeCount = placeCount
        lines = Array(repeating: Line(), count: placeCount * placeCount)
        freeAt = Array(repeating: 0, count: placeCount * placeCount)
        random = SeededRandom(seed: seed, purpose: "shuttle")
    }

    /// The line from one place to another.
    public subscript(from: Int, to: Int) -> Line {
        get { lines[from * placeCount + to] }
        set { lines[from * placeCount + to] = newValue }
    }

    /// Where an IPv4 packet wants to go: its destination's last byte names the place. Nil for
    /// anything else, as what IPv6 says to everybody when a device goes up.
    public func destination(of packet: [UInt8]) -> Int? {
        guard packet.count >= 20, packet[0] >> 4 == 4 else { return nil }
        let place = Int(packet[19]) - 1
        return (0..<placeCount).contains(place) ? place : nil
    }

    /// Takes a packet that a place sent.
    ///
    /// - Parameter now: microseconds of a clock that only goes forward.
    public mutating func take(_ packet: [UInt8], from: Int, at now: UInt64) {
        guard let to = destination(of: packet), to != from else { return }
        let line = self[from, to]
        // All is drawn for each packet, so that a cut shifts no later draw.
        let isLost = random.next() % 1_000 < line.lossPerMille
        let isRepeated = random.next() % 1_000 < line.repeatPerMille
        let delay = UInt64.random(in: line.delay, using: &random)
        guard !line.isCut, !isLost, byteCount + packet.count <= Self.byteCountMax,
            let sent = send(packet.count, over: line, from * placeCount + to, at: now)
        else {
            lostCount += 1
            return
        }
        enqueue(packet, to: to, due: sent + delay)
        if isRepeated { enqueue(packet, to: to, due: sent + line.delay.upperBound) }
    }

    /// When the next packet comes out, in the microseconds of ``take(_:from:at:)``.
    public var nextDue: UInt64? { flights.last?.due }

    /// The next packet that has arrived by now, and where.
    public mutating func arrived(by now: UInt64) -> (to: Int, packet: [UInt8])? {
        guard let next = flights.last, next.due <= now else { return nil }
        flights.removeLast()
        byteCount -= next.packet.count
        deliveredCount += 1
        return (next.to, next.packet)
    }

    /// When a line has sent so many more bytes; nil where too much waits for it already.
    private mutating func send(
        _ count: Int, over line: Line, _ index: Int, at now: UInt64
    ) -> UInt64? {
        guard let rate = line.bytesPerSecond, rate > 0 else { return now }
        let start = max(now, freeAt[index])
        guard start - now <= Self.backlogMax else { return nil }
        freeAt[index] = start + UInt64(count) * 1_000_000 / rate
        return freeAt[index]
    }

    private mutating func enqueue(_ packet: [UInt8], to: Int, due: UInt64) {
        let flight = Flight(due: due, number: flightCount, to: to, packet: packet)
        flightCount += 1
        byteCount += packet.count
        // From the back: what comes in is due behind most of what waits, so the place is found by
        // halving, and few are moved where delays differ little.
        var (low, high) = (0, flights.count)
        while low < high {
            let middle = (low + high) / 2
            let isLater = (flights[middle].due, flights[middle].number) > (due, flight.number)
            if isLater { low = middle + 1 } else { high = middle }
        }
        flights.insert(flight, at: low)
    }
}
