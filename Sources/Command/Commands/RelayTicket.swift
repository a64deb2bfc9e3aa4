import ArgumentParser
import Foundation
import Parley
import ParleyRelayServer
import ParleyRelaying
import ParleySealing
import ParleyWire

struct TicketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ticket",
        abstract: "tickets that pay for mailboxes of a relay",
        discussion: """
            A relay that runs with --tickets creates mailboxes only for tickets. A ticket can be \
            spent once; the relay keeps its hash until then, and nothing afterwards.

            Example:
              parley relay ticket new --count 10 --mebibytes 64
            """,
        subcommands: [TicketNew.self, TicketList.self, TicketRevoke.self])
}

struct TicketNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "issue tickets",
        discussion: """
            Prints one text per ticket. Whoever has the text can spend it, and it is shown only \
            once.

            Example:
              parley relay ticket new --count 10
            """)

    @OptionGroup var options: RelayHomeOptions
    @Option(name: .long, help: "how many")
    var count: Int = 1
    @Option(name: .long, help: "MiB that the mailbox may hold")
    var mebibytes: Int = 64

    func validate() throws {
        guard (1...100_000).contains(count), (1...65_536).contains(mebibytes) else {
            throw ValidationError("--count must be from 1 to 100000, --mebibytes from 1 to 65536.")
        }
    }

    func run() throws {
        let store = try options.store()
        var random = SystemRandom()
        for _ in 0..<count {
            guard let ticket = TicketText(bytes: random.bytes(Limits.ticketByteCount)) else {
                preconditionFailure("a ticket of the right length must be one")
            }
            try store.issue(
                ticket.hash, byteCountMax: UInt64(mebibytes) << 20, at: RelayServer.wallClock())
            World.current.write(ticket.text)
        }
        try store.close()
    }
}

struct TicketList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "show the tickets that nobody has spent",
        discussion: """
            Shows the beginning of each ticket's hash, when it was issued, and what it pays for.

            Example:
              parley relay ticket list
            """)

    @OptionGroup var options: RelayHomeOptions
    @Flag(name: .long, help: "print one JSON object per ticket, for programs")
    var json = false

    func run() throws {
        let store = try options.openStore()
        let tickets = try store.tickets()
        try store.close()
        var table = Table()
        for ticket in tickets {
            let made = Date(timeIntervalSince1970: Double(ticket.made) / 1000)
                .formatted(.iso8601)
            let room = ticket.byteCountMax >> 20
            if json {
                World.current.write(
                    "{\"hash\":\"\(ticket.hash)\",\"made\":\"\(made)\",\"mebibytes\":\(room)}")
            } else {
                table.add(String(ticket.hash.description.prefix(16)), made, "\(room) MiB")
            }
        }
        for line in table.lines { World.current.write(line) }
    }
}

struct TicketRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "revoke a ticket that nobody has spent",
        discussion: """
            Takes the ticket itself, or the beginning of its hash as the list shows it.

            Example:
              parley relay ticket revoke 8c1f20a3b7d94e55
            """)

    @OptionGroup var options: RelayHomeOptions
    @Argument(help: "the ticket, or the beginning of its hash")
    var ticket: String

    func run() throws {
        let store = try options.openStore()
        var resolver = Resolver<Digest>(TicketText(text: ticket)?.hash.description ?? ticket)
        for ticket in try store.tickets() {
            resolver.consider(ticket.hash, name: "", identifier: ticket.hash.description)
        }
        guard let hash = try resolver.thing() else {
            throw NodeError(
                "no-ticket", "There is no such ticket.",
                hint: "`parley relay ticket list` shows those that nobody has spent.")
        }
        _ = try store.revoke(hash)
        try store.close()
        World.current.say("revoked \(hash.description.prefix(16))")
    }
}

extension TicketText {
    /// What the relay keeps of it.
    var hash: Digest { digest(.relayTicket, bytes) }
}
