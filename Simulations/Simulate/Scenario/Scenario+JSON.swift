public import Foundation
import ParleyCheckers

/// Why a file is no scenario, kept run or report, in a sentence for whoever wrote it.
public struct ScenarioError: Error, Equatable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension Scenario {
    /// Reads a scenario, and turns away every key that means nothing here: a fault that is
    /// misspelt would be a fault that never happens.
    public init(json: Data) throws(ScenarioError) {
        self = try StrictJSON.decode(Scenario.self, from: json)
        try check()
    }

    /// The scenario as a file: keys in order, so that the same scenario is the same bytes.
    public func json() throws -> Data { try StrictJSON.encode(self) }

    /// What a decoder cannot see: names that nobody has, ranges that are none.
    func check() throws(ScenarioError) {
        let users = nodes.map(\.user)
        guard nodes.count >= 2 else { throw ScenarioError("a scenario has at least two nodes") }
        guard Set(users).count == users.count else {
            throw ScenarioError("two nodes have the same user")
        }
        for user in users where !Self.isName(user) {
            throw ScenarioError("'\(user)' is no user: lower-case letters and digits are")
        }
        guard nodes[0].of == nil else {
            throw ScenarioError("the first node is a person's first device")
        }
        for node in nodes where node.of.map({ !persons.contains($0) }) ?? false {
            throw ScenarioError("'\(node.user)' is of '\(node.of ?? "")', who is nobody")
        }
        for link in [links.default] + (links.between ?? [:]).values
        where link.delayMs.count != 2 || link.delayMs[0] > link.delayMs[1] {
            throw ScenarioError("delayMs is two numbers, the smaller one first")
        }
        for pair in (links.between ?? [:]).keys.sorted() where ends(of: pair) == nil {
            throw ScenarioError("'\(pair)' is no way: two users with a hyphen between are")
        }
        for name in (workload.mix ?? [:]).keys.sorted() where Mix.usual[name] == nil {
            throw ScenarioError("'\(name)' is in no mix; \(Mix.usual.keys.sorted()) are")
        }
        guard !phases.isEmpty else { throw ScenarioError("a scenario has at least one phase") }
        for phase in phases { try check(phase, Set(users)) }
        for invariant in expect.invariants ?? [] where !Jury.invariants.contains(invariant) {
            throw ScenarioError("'\(invariant)' is no promise; \(Jury.invariants) are")
        }
    }

    private func check(_ phase: Phase, _ users: Set<String>) throws(ScenarioError) {
        for group in phase.partition ?? [] {
            for user in group where !users.contains(user) {
                throw ScenarioError("'\(user)' is parted and is nobody")
            }
        }
        for act in phase.actions ?? [] {
            for user in [act.node] + act.do.users where !users.contains(user) {
                throw ScenarioError("'\(user)' is in an action and is nobody")
            }
            for device in act.do.devices where person(of: device) != person(of: act.node) {
                throw ScenarioError("'\(device)' is not of '\(act.node)'")
            }
            guard act.at <= phase.for else {
                throw ScenarioError("an action at \(act.at) is behind its phase of \(phase.for)")
            }
        }
    }

    private static func isName(_ user: String) -> Bool {
        !user.isEmpty && user.utf8.count <= 24
            && user.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) }
    }

    /// The two nodes that a way's name joins.
    func ends(of pair: String) -> (left: String, right: String)? {
        let names = pair.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names[0] != names[1],
            Set(names).isSubset(of: nodes.map(\.user))
        else { return nil }
        return (names[0], names[1])
    }
}

extension Deed {
    /// The other people that it names.
    var users: [String] {
        switch self {
        case .found(_, let members): members
        case .mention(_, let users, _, _): users
        case .invite(let user, _), .verify(let user), .ask(let user), .answer(let user, _),
            .reset(let user), .stall(let user, _), .flip(let user, _), .add(_, let user, _),
            .remove(_, let user), .promote(_, let user, _), .confide(let user, _),
            .ringAt(let user), .shutOut(let user, _):
            [user]
        case .join(let user, let member): [user] + (member.map { [$0] } ?? [])
        case .recover(_, let helper, _): devices + (helper.map { [$0] } ?? [])
        case .link, .nameDevice, .revoke: devices
        case .part(let groups, _): groups.flatMap { $0 }
        case .write, .reply, .edit, .delete, .react, .read, .rename, .mute, .bringIn, .nameSelf,
            .uninvite, .misbehave, .heal, .leave, .returns, .crash, .failStore, .rot, .jumpClock,
            .backUp, .restore, .quit, .govern, .steal, .impersonate, .openGroup, .closeGroup,
            .keepBackup, .befall, .call, .pickUp, .turnDown, .hangUp, .typing, .appear, .ringAndGo,
            .intrude, .consent, .permit, .forward,
            .report, .star, .deleteForOneself, .pin, .archive, .keepFirst, .unread, .draft,
            .describe,
            .lifetime, .rule,
            .discreet,
            .profile,
            .together,
            .attach, .fetch,
            .forget, .room, .picture, .fillDisk:
            []
        }
    }

    /// The devices of the same person that it names.
    var devices: [String] {
        switch self {
        case .link(let device), .nameDevice(let device, _), .revoke(let device, _): [device]
        case .recover(let device, _, let kept): [device] + kept
        default: []
        }
    }

    /// Its word, as a scenario writes it.
    public var name: String {
        switch self {
        case .write: "write"
        case .reply: "reply"
        case .edit: "edit"
        case .delete: "delete"
        case .react: "react"
        case .read: "read"
        case .rename: "rename"
        case .mute: "mute"
        case .forward: "forward"
        case .report: "report"
        case .star: "star"
        case .deleteForOneself: "deleteForOneself"
        case .pin: "pin"
        case .archive: "archive"
        case .keepFirst: "keepFirst"
        case .draft: "draft"
        case .profile: "profile"
        case .describe: "describe"
        case .lifetime: "lifetime"
        case .rule: "rule"
        case .discreet: "discreet"
        case .mention: "mention"
        case .unread: "unread"
        case .together: "together"
        case .attach: "attach"
        case .fetch: "fetch"
        case .forget: "forget"
        case .room: "room"
        case .picture: "picture"
        case .fillDisk: "fillDisk"
        case .bringIn: "bringIn"
        case .found: "found"
        case .nameSelf: "nameSelf"
        case .invite: "invite"
        case .verify: "verify"
        case .ask: "ask"
        case .answer: "answer"
        case .uninvite: "uninvite"
        case .add: "add"
        case .remove: "remove"
        case .promote: "promote"
        case .quit: "quit"
        case .consent: "consent"
        case .permit: "permit"
        case .govern: "govern"
        case .openGroup: "openGroup"
        case .closeGroup: "closeGroup"
        case .join: "join"
        case .link: "link"
        case .nameDevice: "nameDevice"
        case .revoke: "revoke"
        case .keepBackup: "keepBackup"
        case .recover: "recover"
        case .call: "call"
        case .pickUp: "pickUp"
        case .turnDown: "turnDown"
        case .hangUp: "hangUp"
        case .ringAndGo: "ringAndGo"
        case .ringAt: "ringAt"
        case .shutOut: "shutOut"
        case .intrude: "intrude"
        case .typing: "typing"
        case .appear: "appear"
        case .confide: "confide"
        case .misbehave: "misbehave"
        case .part: "part"
        case .heal: "heal"
        case .leave: "leave"
        case .returns: "returns"
        case .reset: "reset"
        case .stall: "stall"
        case .flip: "flip"
        case .crash: "crash"
        case .failStore: "failStore"
        case .rot: "rot"
        case .jumpClock: "jumpClock"
        case .befall: "befall"
        case .backUp: "backUp"
        case .restore: "restore"
        case .steal: "steal"
        case .impersonate: "impersonate"
        }
    }
}

/// JSON in which every key must mean something.
enum StrictJSON {
    static func decode<Value: Codable>(
        _ type: Value.Type, from data: Data
    ) throws(ScenarioError) -> Value {
        do {
            let value = try JSONDecoder().decode(type, from: data)
            // What is written again holds every key that was understood.
            let understood = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(value))
            let given = try JSONSerialization.jsonObject(with: data)
            if let key = unknownKey(in: given, understood) {
                throw ScenarioError("'\(key)' means nothing here")
            }
            return value
        } catch let error as ScenarioError {
            throw error
        } catch let error as DecodingError {
            throw ScenarioError(sentence(of: error))
        } catch {
            throw ScenarioError("it is no JSON")
        }
    }

    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    private static func unknownKey(in given: Any, _ understood: Any) -> String? {
        if let given = given as? [String: Any], let understood = understood as? [String: Any] {
            for key in given.keys.sorted() {
                guard let value = given[key], !(value is NSNull) else { continue }
                guard let other = understood[key] else { return key }
                if let inner = unknownKey(in: value, other) { return "\(key).\(inner)" }
            }
        }
        if let given = given as? [Any], let understood = understood as? [Any] {
            for (place, pair) in zip(given, understood).enumerated() {
                if let inner = unknownKey(in: pair.0, pair.1) { return "\(place).\(inner)" }
            }
        }
        return nil
    }

    private static func sentence(of error: DecodingError) -> String {
        func place(_ path: [any CodingKey]) -> String {
            path.isEmpty ? "the top" : path.map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context):
            return "'\(key.stringValue)' is missing at \(place(context.codingPath))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            if context.codingPath.isEmpty { return "it is no JSON" }
            return "at \(place(context.codingPath)): \(context.debugDescription)"
        @unknown default: return "it cannot be read"
        }
    }
}
