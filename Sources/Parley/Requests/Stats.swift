import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// How much this node holds, of which conversation and by which device, and how it grew.
public struct StatsView: Codable, Equatable, Sendable {
    /// A conversation.
    public struct Conversation: Codable, Equatable, Sendable {
        /// The conversation, in hex.
        public var conversation: String
        /// Its name.
        public var name: String
        /// Messages that can be read.
        public var messageCount: Int
        /// Operations: messages, and everything else that was written.
        public var operationCount: Int
        /// Messages of the last seven days and of the last thirty, by the order in which they stand.
        public var weekCount: Int
        /// The same of the last thirty days.
        public var monthCount: Int
    }

    /// A device that wrote.
    public struct Device: Codable, Equatable, Sendable {
        /// The device, in hex.
        public var device: String
        /// The name of its person, where they are in a conversation now; else empty.
        public var person: String
        /// Whether it is this one.
        public var isThis: Bool
        /// Its readable messages.
        public var messageCount: Int
        /// Its operations.
        public var operationCount: Int
    }

    /// Days that are counted, at most.
    public static let dayCount = 30
    /// Conversations, the one with most messages first.
    public var conversations: [Conversation]
    /// Devices, the one with most operations first.
    public var devices: [Device]
    /// Messages of each of the last thirty days of 24 hours, the oldest first.
    public var days: [Int]
    /// Whether there were too many to count of those days: then there are more than it says.
    public var isCountPartial: Bool
    /// Bytes of the database on disk.
    public var databaseByteCount: Int
    /// Bytes that sealed files take.
    public var fileByteCount: UInt64
}

/// How much this node holds, of which conversation and by which device, and how it grew.
public struct GetStats: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "stats", RequestScope.read,
        "How much this node holds, of which conversation and by which device, and how it grew."
    )
    /// An example of the request.
    public static let example = GetStats()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> StatsView {
        let path = node.home.path
        return try await node.read { try $0.stats(home: path, at: SystemClock.now.wall) }
    }
}

extension Views {
    /// Messages of the last days that are looked at, at most: a node does other work meanwhile.
    private static let recentCountMax = 50_000
    private static let dayLength: UInt64 = 24 * 3_600_000

    /// - Parameter now: in Unix milliseconds.
    func stats(home: String, at now: UInt64) throws -> StatsView {
        var days = [Int](repeating: 0, count: StatsView.dayCount)
        var left = Self.recentCountMax
        var devices: [DeviceID: (messages: Int, operations: Int)] = [:]
        var people: [DeviceID: PersonID] = [:]
        var conversations: [StatsView.Conversation] = []
        for space in try store.spaces() {
            var (messageCount, operationCount) = (0, 0)
            for log in try store.logs(in: space.number) {
                let held = log.heldCount
                let end = log.spans.last?.last ?? 0
                let messages =
                    log.lane == .content ? try store.messageCount(in: log.number, 0...end) : 0
                messageCount += messages
                operationCount += held
                devices[log.device, default: (0, 0)].messages += messages
                devices[log.device, default: (0, 0)].operations += held
            }
            guard space.kind != .own, let roster = try roster(of: space) else { continue }
            for member in roster.members {
                for device in member.devices { people[device.device] = member.person }
            }
            let recent = try recentDays(in: space.number, at: now, &left)
            for (day, count) in recent.enumerated() { days[day] += count }
            conversations.append(
                StatsView.Conversation(
                    conversation: space.id.description, name: try view(of: space).name,
                    messageCount: messageCount, operationCount: operationCount,
                    weekCount: recent.suffix(7).reduce(0, +), monthCount: recent.reduce(0, +)))
        }
        return StatsView(
            conversations: conversations.sorted {
                ($1.messageCount, $0.conversation) < ($0.messageCount, $1.conversation)
            },
            devices: try devices.sorted { $0.key < $1.key }.map { device, counts in
                StatsView.Device(
                    device: device.description,
                    person: try people[device].map { try name(of: $0) } ?? "",
                    isThis: device == core.node.device, messageCount: counts.messages,
                    operationCount: counts.operations)
            }.sorted { ($1.operationCount, $0.device) < ($0.operationCount, $1.device) },
            days: days, isCountPartial: left == 0,
            databaseByteCount: Self.byteCount(home),
            fileByteCount: UInt64(max(0, core.fileByteCount)))
    }

    /// Messages of each of the last days, the oldest day first.
    private func recentDays(
        in space: SpaceNumber, at now: UInt64, _ left: inout Int
    ) throws -> [Int] {
        var days = [Int](repeating: 0, count: StatsView.dayCount)
        var before: OrderKey?
        while left > 0 {
            let page = try store.messages(in: space, before: before, limit: min(1_000, left))
            for row in page where !row.flags.contains(.deleted) {
                // One of a clock that is ahead is of today.
                let time = min(now, row.order.stand >> 16)
                let age = Int(clamping: (now - time) / Self.dayLength)
                guard age < StatsView.dayCount else { return days }
                days[StatsView.dayCount - 1 - age] += 1
            }
            left -= page.count
            guard let last = page.last, page.count > 0 else { return days }
            if (now - min(now, last.order.stand >> 16)) / Self.dayLength >= StatsView.dayCount {
                return days
            }
            before = last.order
        }
        return days
    }
}
