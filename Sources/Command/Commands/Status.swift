import ArgumentParser
import Parley
import ParleyWire

struct Status: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "show how the node is doing",
        discussion: """
            Shows who the node is, where it listens, its connections, what waits to be delivered, \
            which files are still to be fetched and which files others still lack, what was \
            refused and why, which keys the devices of a conversation share, and everything you \
            should know. With --watch it is shown again whenever something changes, until Ctrl-C; \
            with --json too, as one object per line.

            Example:
              parley status --watch
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    @Flag(name: .long, help: "show it again whenever something changes")
    var watch = false

    func run(with node: any NodeService) async throws {
        guard watch else { return try await show(node) }
        try await StatusWatch(node: node).run { try await show(node) }
    }

    private func show(_ node: any NodeService) async throws {
        var status = try await node.perform(GetStatus())
        // A program shows them to somebody who copies what they advise.
        status.notices = status.notices.map(Advice.complete)
        status.warnings = status.warnings.map(Advice.complete)
        try Output.show(status, json: output.json, as: Self.text(status))
    }

    /// Keys of so many conversations are shown, the newest.
    private static let epochCountMax = 5

    static func text(_ status: NodeStatus) -> String {
        var table = Table()
        table.add("name", status.name)
        table.add("person", status.person)
        table.add("device", status.device)
        table.add("home", status.home)
        table.add(
            "keys",
            status.isProtectedByPassphrase
                ? "protected by a passphrase" : "in a file that only you can read, no passphrase")
        let addresses = status.addresses.joined(separator: ", ")
        let isDeaf =
            status.isRunning ? "nowhere: it only calls others" : "no: the node is not running"
        table.add("listens", addresses.isEmpty ? isDeaf : addresses)
        if status.isOffline {
            table.add(
                "offline", Advice.complete("offline: what you write waits (parley offline off)"))
        }
        if status.links.isEmpty { table.add("links", "none") }
        for link in status.links { table.add("link", link.text) }
        table.add(
            "holds",
            "\(counted(status.conversationCount, "conversation")), "
                + "\(counted(status.operationCount, "operation")), "
                + "\(bytes(status.databaseByteCount)) on disk"
                + (status.files.takenByteCount == 0
                    ? "" : ", and \(bytes(Int(clamping: status.files.takenByteCount))) of files"))
        table.add(
            "traffic",
            "\(bytes(status.sentByteCount)) sent, \(bytes(status.receivedByteCount)) received")
        let waiting = status.pendingCount
        table.add(
            "waiting", counted(waiting, "message or change", "messages and changes"))
        for answer in status.awaited { table.add("waiting", harmless(answer)) }
        for (title, line) in FileLines.lines(status.files) { table.add(title, line) }
        addWhatFailed(status, to: &table)
        for name in status.requests {
            table.add("asks you", "\(name): " + Advice.complete("parley contacts"))
        }
        if status.invitationCount > 0 {
            let count = counted(status.invitationCount, "invitation")
            table.add(
                "invited", Advice.complete("\(count) into groups: parley invitations"))
        }
        for join in status.joins { table.add("joins", GroupJoin.sentence(join)) }
        for epoch in status.epochs.prefix(Self.epochCountMax) {
            table.add("epoch", "\(epoch.name): \(epoch.text)")
        }
        if status.epochs.count > Self.epochCountMax {
            let count = status.epochs.count - Self.epochCountMax
            table.add("epoch", Advice.complete("\(count) more: parley why CONVERSATION"))
        }
        for notice in status.notices { table.add("notice", notice) }
        if let reason = status.readOnlyReason { table.add("read only", reason) }
        for warning in status.warnings { table.add("warning", warning) }
        return table.text
    }

    /// What is not known to have arrived, and what was refused.
    private static func addWhatFailed(_ status: NodeStatus, to table: inout Table) {
        if status.failedScheduledCount > 0 {
            table.add("not sent", ScheduledLines.failed(status.failedScheduledCount))
        }
        if status.strandedCount > 0 {
            table.add(
                "undeliverable",
                counted(status.strandedCount, "message or change", "messages and changes"))
        }
        if status.unknownCount > 0 {
            let count = status.unknownCount
            let what = counted(count, "message or change", "messages and changes")
            table.add(
                "not known", "whether \(what) of yours arrived: this device no longer learns of it")
        }
        for device in status.forkedDevices {
            let name = "\(device.prefix(8)), a device that wrote two different histories"
            table.add("two-faced", Advice.complete("\(name): parley contacts"))
        }
        for (code, count) in status.refusals.sorted(by: { $0.key < $1.key }) {
            let meaning = NodeStatus.meaning(ofRefusal: code).map { ", \($0)" } ?? ""
            table.add("refused", "\(code): \(count)\(meaning)")
        }
    }
}

struct DigestCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "digest",
        abstract: "print one hash per conversation",
        discussion: """
            The hash covers everything that all members of a conversation see alike. Equal hashes \
            on two nodes mean that both show the same. A node on which a conversation was deleted \
            and came back has another hash from then on, because its history begins later; so has \
            one that deleted messages with `parley delete --for-me`.

            Example:
              parley digest
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let digests = try await node.perform(ListDigests())
        // Those that are in no list are for programs.
        let shown = digests.filter { !$0.isSuperseded }
        let table = Table(
            shown.map { [$0.name, counted($0.operationCount, "operation"), $0.digest] })
        try Output.show(digests, json: output.json, as: table.text)
    }
}

extension NodeStatus.Link {
    /// The peer and its address; a relay that carries the link is named.
    fileprivate var text: String {
        if address.isEmpty { return name }
        return address.hasPrefix("through ") ? "\(name) \(address)" : "\(name) at \(address)"
    }
}

/// `512 B`, `1.5 MB`.
func bytes(_ count: Int) -> String {
    var value = Double(count)
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1_000 || unit == "GB" {
            let tenths = Int((value * 10).rounded())
            let isWhole = unit == "B" || tenths.isMultiple(of: 10)
            return isWhole ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
        }
        value /= 1_000
    }
    return "\(count) B"
}
