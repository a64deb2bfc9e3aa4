import ArgumentParser
import Parley

/// Who may do something in a group, as it is written.
enum GroupRuleArgument: String, ExpressibleByArgument, CaseIterable {
    case everybody, admins

    var word: GroupRuleWord { self == .everybody ? .everybody : .admins }
}

struct GroupRulesCommand: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "set who may write, add people, pin and open links",
        discussion: """
            Without options, it shows the rules. Each is everybody (every member) or admins (and \
            owners); only owners change them. With --write admins it is a group for announcements: \
            members read, react and vote, and read receipts go on. --pin is also who sets how long \
            messages stay. What was written under an earlier rule stays, and what members write who \
            have not heard of a new one yet counts until they have. Nodes of versions before this \
            command show what members write all the same, and do not follow who was added by \
            members: update them first.

            Example:
              parley group rules news --write admins
              parley group rules trip --add everybody --invite everybody
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "who writes: everybody or admins")
    var write: GroupRuleArgument?
    @Option(name: .long, help: "who adds people: everybody or admins")
    var add: GroupRuleArgument?
    @Option(name: .long, help: "who pins messages: everybody or admins")
    var pin: GroupRuleArgument?
    @Option(name: .long, help: "who opens links to join: everybody or admins")
    var invite: GroupRuleArgument?

    func run(with node: any NodeService) async throws {
        let isAsking = [write, add, pin, invite].allSatisfy { $0 == nil }
        let found =
            isAsking
            ? try await node.perform(GetGroup(conversation: group))
            : try await node.perform(
                SetGroupRules(
                    conversation: group, write: write?.word, add: add?.word, pin: pin?.word,
                    invite: invite?.word))
        try Output.show(
            found, json: output.json,
            as: harmless(found.name) + "\n" + Self.table(found.rules).joined(separator: "\n"))
    }

    private static func all(_ rules: GroupRulesView) -> [(act: String, rule: GroupRuleWord)] {
        [
            ("write", rules.write), ("add people", rules.add), ("pin messages", rules.pin),
            ("open links", rules.invite),
        ]
    }

    private static func words(_ rule: GroupRuleWord) -> String {
        rule == .everybody ? "everybody" : "owners and admins"
    }

    /// All rules.
    static func table(_ rules: GroupRulesView) -> [String] {
        var table = Table()
        for (act, rule) in all(rules) { table.add("  " + act, words(rule)) }
        return table.lines
    }

    /// The rules that are not as they are without a word, for the page of a group.
    static func lines(of rules: GroupRulesView) -> [String] {
        zip(all(rules), all(GroupRulesView())).filter { now, usual in now.rule != usual.rule }
            .map { now, _ in
                now.rule == .everybody
                    ? "  every member may \(now.act)" : "  only owners and admins \(now.act)"
            }
    }
}
