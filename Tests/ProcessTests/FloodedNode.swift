import Foundation
@testable import Parley
import ParleyLedger
import ParleyLocalAPI
@testable import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Testing

/// A node in a process of its own, a contact who is linked to it, and another who lost their mind:
/// what that one's node knows is known to the tests, which speak for it.
struct FloodedNode {
    let folder: TemporaryFolder
    let ann: NodeProcess
    let client: NodeClient
    let ben: Node
    let port: UInt16
    let key: NoiseKey
    /// Those of the one who floods, who is a contact of ann's.
    let member: LinkCredentials
    /// The conversation of the two.
    let space: SpaceID
    let card: [UInt8]
    /// The log of it in which they wrote.
    let tag: LogTag

    init() async throws {
        folder = try TemporaryFolder()
        port = try FreePort.some()
        ann = try await NodeProcess(home: folder.home("a"), name: "ann", port: port)
        client = try await ann.start()
        let invite = try await client.perform(CreateInvite(hours: 1))
        guard case .device(_, let key, _) = try Invite(link: invite.link).place else {
            throw Late(description: "the invite names no device")
        }
        self.key = key
        let (ben, _) = try await Node.create(NodeSettings(home: folder.home("b")), name: "ben")
        self.ben = ben
        try await ben.start(listen: [])
        try await ben.perform(AcceptInvite(link: invite.link))
        let (mal, _) = try await Node.create(NodeSettings(home: folder.home("m")), name: "mal")
        try await mal.start(listen: [])
        try await mal.perform(
            AcceptInvite(link: try await client.perform(CreateInvite(hours: 1)).link))
        try await eventually("they meet", on: [ben, mal]) {
            [
                try await ben.perform(ListConversations()).count,
                try await mal.perform(ListConversations()).count,
            ] == [1, 1]
        }
        let texts = (0..<200).map { "\($0) " + String(repeating: "long ago ", count: 40) }
        try await mal.perform(SendMessages(conversation: "ann", texts: texts))
        try await eventually("ann has what mal wrote", on: [mal]) {
            try await mal.perform(GetStatus()).pendingCount == 0
        }
        member = mal.network.credentials
        (space, card, tag) = try await mal.running.read { views in
            let space = try #require(views.store.spaces().first { $0.kind == .direct })
            let card = try views.store.value(.card, views.core.node.person.bytes)
            let logs = try views.store.logs(in: space.number)
            let log = try #require(logs.first { $0.lane == .content })
            return (space.id, try #require(card), log.tag)
        }
        await mal.shutdown()
    }

    /// A link as the contact, or as somebody whom nobody knows.
    func link(as credentials: LinkCredentials) -> Link {
        var random = SystemRandom()
        return Link(
            initiatorTo: key, expecting: nil, credentials: credentials, network: .main,
            using: &random)
    }

    static func stranger() -> LinkCredentials {
        var random = SystemRandom()
        let signing = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        guard
            // A log of one operation that was just signed holds.
            let log = try? IdentityLog.founded(
                root: RecoveryCode.generate(using: &random).rootKey, device: signing,
                noiseKey: noise.publicKey, time: 1_700_000_000_000, using: &random)
        else { preconditionFailure("an identity can be made") }
        return LinkCredentials(
            person: log.person, device: signing.device, noiseKey: noise, identity: log.encoded)
    }

    /// The most memory that the node's process has held at any time, in bytes.
    func residentByteCountMax() async throws -> Int {
        let id = try #require(await ann.processID)
        let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM") })
        return 1024 * (Int(line.split(separator: " ").dropLast().last ?? "") ?? 0)
    }

    /// Parts the two who know each other, and waits until they have a link again.
    func meetAgain() async throws {
        try await ben.perform(SetOffline(on: true))
        try await eventually("they parted", on: [ann]) {
            try await client.perform(GetStatus()).links.isEmpty
        }
        try await ben.perform(SetOffline(on: false))
        try await eventually("they meet again", on: [ann], within: 40) {
            try await client.perform(GetStatus()).links.contains { $0.name == "ben" }
        }
    }

    func end() async {
        await client.close()
        await ben.shutdown()
    }
}

extension FloodedNode {
    /// As one greets who takes any number of operations.
    static let hello = Frame.hello(
        Hello(capabilities: 0, wallClock: 1_700_000_000_000, generation: 7, credit: .greatest)
    ).encoded()

    /// A node is flooded, and bears it.
    ///
    /// - Parameter refusal: what the node counts in its status meanwhile; nil where reading may stop
    ///   before anything has to be refused.
    static func endures(
        _ what: Comment, refusing refusal: String?, threads: Int = 2,
        _ body: @escaping @Sendable (FloodedNode, Flood, UInt32) -> Void
    ) async throws {
        let node = try await FloodedNode()
        let flood = Flood()
        for number in 0..<threads {
            let source = 0x7F00_0001 + UInt32(number)
            flood.begin { body(node, $0, source) }
        }
        let result = try await Endurance.measure(node, under: flood)
        result.expectBearable(what, refusing: refusal)
        await node.end()
    }

    /// Sends the same frames on a link until it or the flood ends.
    func repeats(
        _ frames: [[UInt8]], after first: [[UInt8]] = [], as who: LinkCredentials,
        reads: Bool = true, _ flood: Flood, from source: UInt32
    ) {
        sends({ frames }, after: first, as: who, reads: reads, flood, from: source)
    }

    /// Sends what it is given on a link until it or the flood ends.
    func sends(
        _ frames: () -> [[UInt8]], after first: [[UInt8]] = [], as who: LinkCredentials,
        reads: Bool = true, _ flood: Flood, from source: UInt32
    ) {
        let goesOn = { flood.goesOn }
        guard var link = FloodLink(self.link(as: who), port: port, from: source, while: goesOn)
        else {
            // Turned away: whoever floods tries again soon.
            return Thread.sleep(forTimeInterval: 0.02)
        }
        if !first.isEmpty { link.send(first, while: goesOn) }
        while link.isOpen, goesOn() {
            let frames = frames()
            link.send(frames, while: goesOn)
            flood.counted(frames.count)
            if reads { link.ignore() }
        }
    }
}

/// What is bearable while a flood goes on: what `Protocol/07-threats.md` says of a release build. A
/// debug build is several times slower, and shares two cores with the flood and with other tests.
enum Bearable {
    private static let isRelease = ProcessInfo.processInfo.environment["PARLEY_PROGRAM"] != nil
    private static let patience = isRelease ? 1 : 3

    static let residentByteCount = 150 << 20
    static let answer: Duration = .milliseconds(500) * patience
    static let delivery: Duration = .seconds(1) * patience
    static let stop: Duration = .seconds(2) * patience
}

/// What a node was like while a flood went on.
struct Endurance: CustomStringConvertible {
    var residentByteCount = 0
    var answer: Duration = .zero
    var delivery: Duration = .zero
    var stop: Duration = .zero
    var count = 0
    /// What the node says that it refused, by its names.
    var refusals: [String: Int] = [:]

    var description: String {
        "\(count) sent; at most \(residentByteCount >> 20) MiB, answers in \(answer), "
            + "messages in \(delivery), stopped in \(stop); refused \(refusals)"
    }

    /// For how long each flood goes on: seconds here, longer with `PARLEY_SOAK`.
    static var time: Duration {
        .seconds(ProcessInfo.processInfo.environment["PARLEY_SOAK"] == nil ? 3 : 60)
    }

    /// Looks on while a flood goes on; then the node is told to stop, while it still goes on.
    static func measure(_ node: FloodedNode, under flood: Flood) async throws -> Self {
        let clock = ContinuousClock()
        var result = Endurance()
        let end = clock.now + time
        var number = 0
        while clock.now < end {
            number += 1
            let text = "still here \(number)"
            let written = clock.now
            try await node.ben.perform(SendMessages(conversation: "ann", texts: [text]))
            try await eventually("ann hears ben", on: [node.ann], within: 60) {
                let asked = clock.now
                let page = try await node.client.perform(
                    ReadMessages(conversation: "ben", limit: 5))
                result.answer = max(result.answer, clock.now - asked)
                return page.messages.contains { $0.text == text }
            }
            result.delivery = max(result.delivery, clock.now - written)
            let asked = clock.now
            result.refusals = try await node.client.perform(GetStatus()).refusals
            result.answer = max(result.answer, clock.now - asked)
        }
        result.residentByteCount = try await node.residentByteCountMax()
        let stopped = clock.now
        #expect(try await node.ann.stop() == 0)
        result.stop = clock.now - stopped
        await flood.end()
        result.count = flood.total
        return result
    }

    func expectBearable(_ comment: Comment, refusing refusal: String?) {
        print("\(comment): \(self)")
        if let refusal { #expect(refusals[refusal, default: 0] > 0, comment) }
        #expect(residentByteCount < Bearable.residentByteCount, comment)
        #expect(answer < Bearable.answer, comment)
        #expect(delivery < Bearable.delivery, comment)
        #expect(stop < Bearable.stop, comment)
    }
}
