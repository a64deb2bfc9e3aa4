import ArgumentParser
import Parley
import ParleyWire

struct InviteCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "create a link that lets a person reach you",
        discussion: """
            The link works once, or as often as --uses says, for two days or as long as --expires \
            says. If you use a relay, your card is kept there for whoever accepts the link, and \
            they can write to you while you are away. Send the link where nobody else reads it: \
            whoever has it can become your contact in that person's place. `parley contact verify` \
            shows whether that happened.

            Example:
              parley invite --uses 5 --expires 7d
            """,
        subcommands: [InviteList.self, InviteRevoke.self])

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var qr: QROptions
    @Option(name: .long, help: "how many people may use it, 1 to 100")
    var uses = 1
    @Option(
        name: .long, help: "how long it works, as 12h or 7d, at most 30d",
        transform: Lifetime.init(argument:))
    var expires = Lifetime(hours: 48)

    func validate() throws {
        guard (1...100).contains(uses) else {
            throw ValidationError("--uses must be from 1 to 100.")
        }
    }

    func run(with node: any NodeService) async throws {
        let changes = try await node.changes()
        var invite = try await node.perform(CreateInvite(uses: uses, hours: expires.hours))
        if invite.isWaitingForRelay {
            let id = invite.id
            let found = try await InviteList.look(on: node, following: changes)
            invite.isWaitingForRelay = found.first { $0.id == id }?.isWaitingForRelay ?? true
        }
        if !output.json { qr.show(invite.link) }
        try Output.show(invite, json: output.json, as: invite.link)
        let often = uses == 1 ? "once" : "\(uses) times"
        World.current.say("works \(often), until \(Clock().moment(invite.expires))")
        if let words = Self.place(of: invite) { World.current.advise(words) }
        Self.warn(ofClock: invite.clockWarning)
    }

    /// An invite that expires by a wrong clock may have expired for its user.
    static func warn(ofClock warning: String?) {
        guard let warning else { return }
        World.current.advise(
            "warning: \(harmless(warning)) The link expires by this device's clock: if "
                + "that is wrong, set it and create another link")
    }

    /// Whether a user of the link will find this node.
    static func place(of invite: InviteView) -> String? {
        if let relay = invite.relay {
            return invite.isWaitingForRelay
                ? "your card is not known to be on \(harmless(relay)) yet: it goes there once a "
                    + "command or parley run reaches it; whoever accepts the link before that waits"
                : "your card is on \(harmless(relay)): they can write to you while you are away"
        }
        guard invite.addresses.isEmpty else { return nil }
        return
            "warning: the link has no address of yours, so nobody elsewhere can use it: add a relay "
            + "with parley relays add, or start parley run where it may listen, and then use parley "
            + "invite again"
    }
}

/// How long something works: `12h`, `7d`.
struct Lifetime: Equatable, CustomStringConvertible {
    let hours: Int

    init(hours: Int) { self.hours = hours }

    init(argument: String) throws {
        let unit = argument.last == "h" ? 1 : argument.last == "d" ? 24 : 0
        guard unit > 0, let count = Int(argument.dropLast()),
            (1...24 * 30 / unit).contains(count)
        else {
            throw ValidationError(
                "This can last from 1h to 720h, or from 1d to 30d: 12h or 7d, for example.")
        }
        hours = count * unit
    }

    var description: String {
        hours.isMultiple(of: 24) ? "\(hours / 24)d" : "\(hours)h"
    }
}

struct InviteList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list the invites that can still be used",
        discussion: """
            Shows how often each can still be used, who used it, and when it expires; also the \
            links into groups that you opened, and all of those of which you are an admin. With \
            --json also the links to you.

            Example:
              parley invite list
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await World.current.lend(place) { access in
            let changes = try await access.node.changes()
            var invites = try await access.node.perform(ListInvites())
            // A home that is open for this command alone has just asked the relay, and is to hear the answer.
            if !access.isRunning, invites.contains(where: \.isWaitingForRelay) {
                invites = try await Self.look(on: access.node, following: changes)
            }
            try await show(invites, of: access.node)
        }
    }

    /// The invites once the relay has the cards of all, or as it is after a moment.
    static func look(
        on node: any NodeService, following changes: AsyncStream<ChangeView>
    ) async throws -> [InviteView] {
        try await Moment.look(following: changes) { invites in
            !invites.contains(where: \.isWaitingForRelay)
        } _: {
            try await node.perform(ListInvites())
        }
    }

    private func show(_ invites: [InviteView], of node: any NodeService) async throws {
        let clock = Clock()
        let table = Table(
            invites.map { invite in
                [
                    String(invite.id.prefix(16)), invite.group.map { "into \($0)" } ?? "",
                    "\(counted(invite.usesLeft, "use")) left",
                    "until " + clock.moment(invite.expires), VisibleName.list(invite.guests),
                    Self.obstacle(of: invite),
                ]
            })
        try Output.show(invites, json: output.json, as: table.text)
        let isOneOfSeveral =
            try await node.perform(ListDevices()).count { $0.state == "active" } > 1
        if isOneOfSeveral {
            // A program shows it beside the list.
            World.current.say(
                "only invites of this device, and links into groups: an invite that "
                    + "another device of yours made is listed and revoked only there")
        } else if invites.isEmpty, !output.json {
            World.current.say("no invite is open")
        }
        guard !output.json, invites.contains(where: \.leadsNowhere) else { return }
        World.current.advise(
            "whoever accepts a link that leads nowhere never gets an answer: parley invite "
                + "creates another, parley invite revoke revokes that one")
    }

    /// What keeps somebody who takes it from being answered.
    private static func obstacle(of invite: InviteView) -> String {
        switch invite.relayState {
        case "removed": "leads nowhere: its relay is no longer used"
        case "mistaken": "leads nowhere: its relay answers without its key"
        case "leaving": "works as long as its old relay is there"
        default: invite.isWaitingForRelay ? "card not known to be on the relay yet" : ""
        }
    }

    /// Says how many open invites name a relay that was given up.
    static func sayWhatIsLost(on node: any NodeService) async throws {
        let all = try await node.perform(ListInvites()).filter { $0.relayState != nil }
        let lost = all.filter(\.leadsNowhere)
        guard let one = lost.first ?? all.first else { return }
        let count = lost.isEmpty ? all.count : lost.count
        let what = counted(count, "open invite names", "open invites name")
        World.current.advise(
            one.leadsNowhere
                ? "\(what) a relay that is no longer used or answers without its key, "
                    + "and whoever accepts it never gets an answer: parley invite creates "
                    + "another, parley invite list shows it"
                : "\(what) the old relay, and works as long as that is there: if that "
                    + "relay was set up again, parley invite creates another, parley invite "
                    + "list shows it")
    }
}

struct InviteRevoke: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "revoke an invite: nobody can use it any more",
        discussion: """
            Whoever used it before stays a contact. Give the name that `parley invite list` shows, \
            or the start of it.

            Example:
              parley invite revoke 5b1c
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the invite")
    var invite: String

    func validate() throws { try Check.name(invite, "an invite's name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(RevokeInvite(id: invite))
    }
}

struct Accept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "accept an invite of somebody else",
        discussion: """
            The two nodes meet as soon as one can reach the other. If the link names a relay, you \
            can write at once: your first messages wait there for the person who invited you. If \
            somebody else has used the invite, you learn of it once both nodes meet. --alias sets \
            your own name for the person, also for one whom you know already; nobody else sees it. \
            `parley contact alias` changes it.

            Example:
              parley accept "$(cat invite.txt)" --alias Ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the link")
    var link: String
    @Option(name: .long, help: "your own name for the person")
    var alias: String?

    func validate() throws {
        guard !link.isEmpty, link.utf8.count <= 16 * 1024 else {
            throw ValidationError("That is not an invite link.")
        }
        if let alias { try Check.name(alias, "an alias") }
    }

    func run() async throws {
        try await World.current.lend(place) { access in
            // Asked for first: they may have met before the answer is here. A home that is open for this
            // command alone is waited for as well: what it has reached may have taken the invite.
            let changes = try await access.node.changes()
            var contact = try await access.node.perform(AcceptInvite(link: link, alias: alias))
            contact = try await Self.wait(for: contact, on: access.node, following: changes)
            // Its links end with the command.
            contact.isLinked = contact.isLinked && access.isRunning
            if contact.state == "refused" { throw NodeError(refusing: contact) }
            try Output.show(contact, json: output.json, as: Contacts.text([contact]))
            if output.json { return }
            Contacts.warn(contact, isAlias: alias != nil)
            for notice in contact.notices { World.current.advise("notice: " + harmless(notice)) }
            if let words = Self.next(contact, isRunning: access.isRunning) {
                World.current.advise(words)
            }
        }
    }

    /// What can be done now with somebody who has not answered.
    static func next(_ contact: ContactView, isRunning: Bool) -> String? {
        guard contact.state == "invited" else {
            return isRunning
                ? nil : "messages are sent and received while your node runs: parley run"
        }
        let name = harmless(contact.name)
        if contact.isWritable {
            return "you can write to them now: parley send \(Advice.quoted(name)) TEXT"
        }
        return isRunning
            ? "you meet as soon as one of you reaches the other"
            : "you meet once your node runs: parley run"
    }

    /// The contact once the two have met, or as it is after a moment.
    private static func wait(
        for contact: ContactView, on node: any NodeService,
        following changes: AsyncStream<ChangeView>
    ) async throws -> ContactView {
        try await Moment.look(following: changes) { contact in
            contact.state != "invited" || contact.isWritable
        } _: {
            try await node.perform(ListContacts()).first { $0.person == contact.person } ?? contact
        }
    }
}

struct Contacts: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "list the people you know",
        discussion: """
            Shows the state of each: invited or requested until they answer, pending if they ask \
            you, then accepted, declined or blocked, or refused if your invite was not valid, for \
            example because somebody else had used it. Also shows whether you compared safety \
            numbers, and whether a connection to them is open.

            Example:
              parley contacts
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let contacts = try await node.perform(ListContacts())
        try Output.show(contacts, json: output.json, as: Self.text(contacts))
        try await Losses.warn(of: "people", on: node)
        if output.json { return }
        if contacts.isEmpty {
            try await World.current.say(
                "No contacts yet.", way: "`parley invite` creates a link.", on: node)
        }
        for contact in contacts {
            if contact.state == "pending" { World.current.advise(Self.request(contact)) }
            for notice in contact.notices { World.current.advise("notice: " + harmless(notice)) }
        }
        Self.warn(contacts.map { ($0.name, $0.person, $0.resembles) })
    }

    /// That somebody asks, and how they are answered.
    static func request(_ contact: ContactView) -> String {
        let start = contact.person.prefix(8)
        return
            "\(harmless(contact.name)) asks to be your contact: parley contact accept \(start), or "
            + "parley contact decline \(start)"
    }

    /// Says whose name could be taken for that of somebody else.
    static func warn(_ people: [(name: String, person: String, resembles: [String])]) {
        for one in people where !one.resembles.isEmpty {
            World.current.say(
                "notice: " + harmless("\(one.name) (\(one.person.prefix(8))) is not ")
                    + harmless(one.resembles.joined(separator: ", "))
                    + ", whose name looks the same: compare safety numbers")
        }
    }

    /// The same of one person; of a name that was given here, that it is taken.
    static func warn(_ contact: ContactView, isAlias: Bool) {
        guard isAlias, !contact.resembles.isEmpty else {
            return warn([(contact.name, contact.person, contact.resembles)])
        }
        let others = contact.resembles.joined(separator: ", ")
        World.current.advise(
            "notice: " + harmless("“\(contact.name)” can be taken for \(others)")
                + ": the start of their identifiers tells them apart, or another name, parley contact "
                + "alias \(contact.person.prefix(8)) NAME")
    }

    static func text(_ contacts: [ContactView]) -> String {
        Table(
            contacts.map { contact in
                [
                    // Before one has their card, nobody has told what they are called.
                    contact.name == contact.person.prefix(8) ? "(no name yet)" : contact.name,
                    String(contact.person.prefix(8)), contact.state,
                    contact.isVerified ? "verified" : "not verified",
                    contact.isLinked ? "linked" : "not linked",
                    contact.addresses.joined(separator: ", "),
                ]
            }
        ).text
    }
}
