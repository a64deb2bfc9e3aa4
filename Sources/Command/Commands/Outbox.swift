import ArgumentParser
import Parley
import ParleyWire

struct OutboxCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "show what waits to be delivered",
        discussion: """
            Shows messages that no device of another person has yet: those that are only on this \
            device, and those that a relay has; also edits, deletions, reactions, pins, names of \
            groups, polls, answers, action items, notes and edits of them, decisions and \
            approvals, and how long messages stay; groups that you began, whom you added or \
            removed, roles, settings and links, until another member knows, or in a group in \
            which nobody else is yet, somebody who is invited; groups that you left, until a \
            member of the group knows; and people who are to become contacts and were not reached \
            yet. Your own name is not among them: it goes to each contact who is reached.

            Below that, it shows files that are still to be fetched, and files of yours that, as \
            far as is known, others lack. --json leaves these out: `parley status --json` has them.

            --stranded shows messages that can no longer be delivered from here, so that another \
            device of yours can send them again (`parley send --stranded`): those of a device \
            with two histories, and those of a revoked device, which no longer learns what \
            arrived. It also shows messages that were refused because you had been removed from \
            a group, or made a reader, before they arrived: once you may write there again, any \
            device of yours can send them again, this one too.

            Example:
              parley outbox
              parley outbox --stranded --json > said.json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Flag(name: .long, help: "show what never leaves this device, may not have, or nobody took")
    var stranded = false

    func run(with node: any NodeService) async throws {
        let waiting = try await node.perform(ListOutbox())
        if stranded {
            let some = waiting.filter {
                $0.strandedCount + $0.unknownCount + $0.untakenCount + $0.untakenChangeCount > 0
            }
            return try await showStranded(some, on: node)
        }
        let rows = waiting.filter(\.isWaiting).map(Self.row)
        try Output.show(waiting, json: output.json, as: Table(rows).text)
        guard !output.json else { return }
        if rows.isEmpty { World.current.say("Nothing waits.") }
        for view in waiting where view.untakenBar == nil { sayWhatNobodyTook(view) }
        if waiting.contains(where: { $0.strandedCount > 0 }) {
            World.current.say(
                "this device wrote two histories, and nobody accepts more from it: "
                    + Advice.complete("parley status") + " tells what to do")
        }
        if waiting.contains(where: { $0.unknownCount > 0 }) {
            World.current.say(Self.unknown)
        }
        for view in waiting {
            for relay in view.fullRelayNames ?? [] {
                World.current.say(
                    "the relay \(harmless(relay)) had no more room for “\(harmless(view.name))”: it "
                        + "is asked again about once an hour, and has room after midnight UTC; or "
                        + "the rest goes directly to them once you are connected")
            }
        }
        let status = try await node.perform(GetStatus())
        if status.failedScheduledCount > 0 {
            World.current.say("not sent: " + ScheduledLines.failed(status.failedScheduledCount))
        }
        for (_, line) in FileLines.lines(status.files) { World.current.say("files: " + line) }
        guard waiting.contains(where: { $0.isOnItsWay }) else { return }
        if status.isOffline {
            World.current.advise("this node is offline: parley offline off ends that")
        }
        if !status.isRunning, status.readOnlyReason == nil {
            World.current.advise(
                "no node is running: a command sends and fetches what it can while it "
                    + "lasts; parley run does so all the time")
        }
    }

    private func sayWhatNobodyTook(_ view: OutboxView) {
        let parts = [(view.untakenCount, "message"), (view.untakenChangeCount, "change")]
            .filter { $0.0 > 0 }.map { counted($0, $1) }
        if parts.isEmpty { return }
        let what = view.untakenCount > 0 ? "shows what can be sent again" : "shows what they were"
        World.current.advise(
            "nobody took \(parts.joined(separator: " and ")) of yours in "
                + "“\(harmless(view.name))”: you had been removed, or made a reader. `parley outbox "
                + "--stranded` \(what)")
    }

    private func showStranded(_ all: [OutboxView], on node: any NodeService) async throws {
        var words: [StrandedWords] = []
        var shown: [String] = []
        var sentCount = 0
        for one in all {
            let sent = Set(
                try await node.perform(ListSentAgain(conversation: one.conversation))
                    .map(\.original))
            let found = try await StrandedWords.found(
                in: one.conversation, isForked: one.strandedCount > 0, on: node)
            let messages = found.messages.filter { !sent.contains($0.id) }
            sentCount += found.messages.count - messages.count
            let others = try await node.perform(ListUndelivered(conversation: one.conversation))
                .filter {
                    ["stranded", "unknown", "revoked", "removed", "cut-off"].contains($0.state)
                }
            let deeds =
                found.deeds
                + others.map {
                    StrandedWords.Deed(id: $0.id, time: $0.time, change: $0.change, text: $0.text)
                }
            guard !messages.isEmpty || !deeds.isEmpty else { continue }
            words.append(StrandedWords(one.conversation, one.name, messages, deeds))
            let lines =
                [MessageLines.text(messages)]
                + deeds.map { "  " + UndeliveredView.line($0.change, $0.text) }
            shown += [harmless(one.name) + Self.bar(one) + ":"] + lines.filter { !$0.isEmpty }
        }
        try Output.show(words, json: output.json, as: shown.joined(separator: "\n"))
        if sentCount > 0 {
            World.current.say(
                "\(counted(sentCount, "message")) left out, because "
                    + "\(sentCount == 1 ? "it was" : "they were") sent again")
        }
        if all.contains(where: { $0.unknownCount > 0 }) {
            World.current.advise(Self.mayHaveArrived)
        }
        if all.contains(where: { $0.untakenCount > 0 && $0.untakenBar == nil }) {
            World.current.advise(Self.canBeSentAgain)
        }
        if all.contains(where: { $0.untakenChangeCount > 0 && $0.untakenBar == nil }) {
            World.current.say("changes that nobody took have to be made again by hand")
        }
        guard all.isEmpty else { return }
        let status = try await node.perform(GetStatus())
        guard !status.isRevoked else {
            return World.current.advise(
                "nothing is known to be missing; but what none of your other devices had when this "
                    + "one was revoked, nobody sees any more, whoever read it: compare what they show"
            )
        }
        World.current.advise(
            status.readOnlyReason == nil
                ? "nothing: no message that was written here has to be sent again"
                : "nothing that was written here has to be sent again from another device; "
                    + "`parley outbox` shows what else waits")
    }

    /// What a device that was revoked cannot tell.
    static let unknown =
        "another device of yours has revoked this one, so it no longer learns whether that "
        + "arrived; your other devices may know"

    private static let mayHaveArrived =
        "some of that may have arrived: `parley outbox --stranded --json > said.json` here, and "
        + "“parley send CONVERSATION --stranded said.json” on one other device of yours, send again "
        + "what that device does not have"

    private static let canBeSentAgain =
        "what nobody took can be sent again, on this device too: `parley outbox --stranded --json > "
        + "said.json`, and then `parley send CONVERSATION --stranded said.json`"

    /// Why nothing of it can be sent again now, behind the name of the conversation.
    private static func bar(_ view: OutboxView) -> String {
        switch view.untakenBar {
        case "removed": " (you are no longer a member: nothing of this can be sent there)"
        case "reader": " (you are a reader there: nothing of this can be sent)"
        default: ""
        }
    }

    private static func row(_ view: OutboxView) -> [String] {
        switch view.wish {
        case "request":
            return [
                view.name,
                "your request to be a contact waits until they, or a relay of theirs, are reached",
            ]
        case "request-relayed": return [view.name, "a relay has your request to be a contact"]
        case "invite":
            guard let address = view.mistakenRelay else {
                return [view.name, "you accepted their invite: that waits until they are reached"]
            }
            return [
                view.name,
                "the server at \(address) does not have the key of the relay that their "
                    + "invite names: ask for another invite",
            ]
        default: break
        }
        let stranded = view.strandedCount > 0 ? ["\(view.strandedCount) here for good"] : []
        if view.unknownCount > 0 {
            return [view.name, "\(view.unknownCount) may have arrived or not"] + stranded
        }
        let waitsForLeaving = view.savedCount + view.relayedCount + view.changeCount > 0
        let left =
            view.isLeaving
            ? [
                "you left, and nobody there knows it yet"
                    + (waitsForLeaving ? ": they may not accept what waits" : "")
            ] : []
        let kept =
            view.keptCount > 0
            ? ["\(view.keptCount) kept until this device has what it wrote there before"] : []
        return [
            view.name, "\(view.savedCount) saved here", "\(view.relayedCount) on a relay",
            "\(view.changeCount) changed"
                + (view.relayedChangeCount > 0 ? ", \(view.relayedChangeCount) on a relay" : ""),
        ] + stranded + left + kept + (view.waiting.map { [$0] } ?? [])
    }
}

extension OutboxView {
    /// Whether something of it is to leave this device.
    fileprivate var isOnItsWay: Bool {
        waiting == nil
            && (wish == "request" || wish == "invite" || isLeaving
                || savedCount + relayedCount + changeCount > 0)
    }
}
