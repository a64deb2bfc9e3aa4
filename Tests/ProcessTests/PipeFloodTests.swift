import Foundation
import Parley
import ParleyLocalAPI
import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyWire
import Testing

/// A client of a relay that keeps to the protocol and to nothing else.
struct FloodCaller {
    private let socket: FloodSocket
    private var client: RelayClient

    var isOpen: Bool { socket.isOpen }

    /// Connects; nil where the relay does not let it.
    init?(_ mailbox: CardMailbox, from source: UInt32, while goesOn: () -> Bool) {
        let port = mailbox.addresses.first?.split(separator: ":").last.flatMap { UInt16($0) }
        guard let port, let socket = FloodSocket(port: port, from: source) else { return nil }
        var random = SystemRandom()
        self.socket = socket
        client = RelayClient(to: mailbox.relay, network: .main, at: 0, using: &random)
        while client.welcome == nil {
            guard goesOn(), isOpen else { return nil }
            _ = exchange(while: goesOn)
        }
    }

    mutating func order(_ order: (inout RelayClient) -> Void) { order(&client) }

    /// Sends what is due, and gives what came within a quarter of a second.
    mutating func exchange(while goesOn: () -> Bool) -> [RelayEvent] {
        socket.write(client.output(), while: goesOn)
        // What does not hold is not a relay's word: it ends here as well.
        let events = try? client.receive(socket.read()[...], at: 0)
        socket.write(client.output(), while: goesOn)
        return events ?? []
    }
}

@Suite("A node that is called through a relay without end", .serialized, .timeLimit(.minutes(5)))
struct PipeFloodTests {
    /// What becomes of a call.
    private enum Fate { case stands, ended }

    /// Calls as often as it is let, and says nothing in the pipes that come about.
    private static func callsInSilence(
        _ mailbox: CardMailbox, from source: UInt32, _ flood: Flood,
        _ told: AsyncStream<Fate>.Continuation
    ) {
        let goesOn = { flood.goesOn }
        guard var caller = FloodCaller(mailbox, from: source, while: goesOn) else { return }
        let access = MailboxAccess(mailbox.inbox, key: mailbox.writer)
        caller.order { client in
            for _ in 0..<Limits.pipeCountMax { client.ask(.pipe, as: access) }
        }
        while caller.isOpen, goesOn() {
            for event in caller.exchange(while: goesOn) {
                switch event {
                case .answered(_, .pipe): told.yield(.stands)
                // Where there was no room there may be some now.
                case .answered: caller.order { $0.ask(.pipe, as: access) }
                case .ended:
                    told.yield(.ended)
                    caller.order { $0.ask(.pipe, as: access) }
                default: break
                }
            }
        }
    }

    @Test("Attack 143: silent pipes of who has the card keep nobody from linking through a relay")
    func silentPipes() async throws {
        let all = try await Hidden()
        for node in [all.ann, all.ben] {
            let client = try await node.start(isHidden: true)
            try await client.perform(AddRelay(text: all.text))
            try await eventually("the relay is reached", on: [node]) {
                try await client.perform(ListRelays()).first?.state == "connected"
            }
        }
        let ann = try await all.client(all.ann)
        let mailbox = try await mailbox(of: ann, on: all.ann)
        let flood = Flood()
        let (fates, told) = AsyncStream.makeStream(of: Fate.self)
        flood.begin { Self.callsInSilence(mailbox, from: 0x7F00_0009, $0, told) }
        for await _ in fates.prefix(Limits.pipeCountMax) {}
        let link = try await ann.perform(CreateInvite(hours: 1)).link
        try await all.client(all.ben).perform(AcceptInvite(link: link))
        try await eventually("they are linked", on: [all.ann, all.ben], within: 60) {
            try await ann.perform(GetStatus()).links.contains { $0.address.hasPrefix("through ") }
        }
        // Nobody who says nothing stays, wanted place or not.
        for await fate in fates where fate == .ended { break }
        let refused = try await ann.perform(GetStatus()).refusals
        #expect(
            refused["pipe-handshake-timeout", default: 0] + refused["pipe-displaced", default: 0]
                > 0)
        await flood.end()
        #expect(try await all.ann.stop() == 0)
        #expect(try await all.ben.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    /// The inbox that the card shows to whoever asks.
    private func mailbox(of client: NodeClient, on node: NodeProcess) async throws -> CardMailbox {
        var found: CardMailbox?
        try await eventually("the card shows the inbox", on: [node]) {
            let card = try #require(CardText(try await client.perform(GetCard()).text)?.card)
            found = try Card(bytes: card).parts.first?.mailboxes.first
            return found != nil
        }
        return try #require(found)
    }
}
