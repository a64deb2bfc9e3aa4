import ParleyHTTPAPI

/// A key of the configuration: the one declaration that help, the page of the manual, checks and
/// `config list` are made from.
struct ConfigKey: Sendable {
    /// What its value is.
    enum Kind: Sendable, Equatable {
        /// Any text; empty where nothing is chosen.
        case text
        /// A path, absolute or from the home folder on, `~/…`.
        case path
        /// The name of a home.
        case home
        /// Addresses to listen on.
        case addresses
        /// An address of this machine alone; empty for none.
        case loopback
        /// A program with its arguments.
        case command
        case toggle
        case number(ClosedRange<Int>)
        case choice([String])
        /// `22:00-07:00`.
        case hours
    }

    let name: String
    let kind: Kind
    /// What holds where nobody says anything else.
    let fallback: ConfigValue
    /// Its purpose: a sentence.
    let meaning: String
    /// Whether a running node applies a change when it is told to reload.
    let isLive: Bool

    /// The variable that stands above the file.
    var variable: String {
        "PARLEY_" + name.uppercased().replacing(".", with: "_").replacing("-", with: "_")
    }

    static func named(_ name: String) -> ConfigKey? { all.first { $0.name == name } }

    /// All of them, in the order of the page.
    static let all: [ConfigKey] = [
        ConfigKey(
            name: "profile", kind: .home, fallback: .string(""),
            meaning:
                "The home that commands use if none is named; `parley homes` lists the homes.",
            isLive: false),
        ConfigKey(
            name: "passphrase-file", kind: .path, fallback: .string(""),
            meaning: "A file whose first line is the passphrase of homes that have one.",
            isLive: false),
        ConfigKey(
            name: "run.listen", kind: .addresses, fallback: .strings([]),
            meaning: "Addresses that `parley run` listens on; empty for the port it had before.",
            isLive: false),
        ConfigKey(
            name: "run.lan", kind: .toggle, fallback: .boolean(true),
            meaning:
                "Whether this node looks for contacts on the local network, and they find "
                + "it there.",
            isLive: false),
        ConfigKey(
            name: "run.http", kind: .loopback, fallback: .string(""),
            meaning:
                "The loopback address, 127.0.0.1:PORT, on which `parley run` answers programs of "
                + "this machine over HTTP; port 0 is any free one, empty is not at all.",
            isLive: false),
        ConfigKey(
            name: "run.page", kind: .toggle, fallback: .boolean(false),
            meaning:
                "Whether `parley run` serves the page for a browser on this machine.",
            isLive: false),
        ConfigKey(
            name: "log.level", kind: .choice(LogLevel.names), fallback: .string("notice"),
            meaning: "How much `parley run` logs. No level logs texts, names or keys.",
            isLive: true),
        ConfigKey(
            name: "notify.command", kind: .command, fallback: .strings([]),
            meaning:
                "A program that is started for each notification, with the details in its "
                + "environment; an absolute path and its arguments.",
            isLive: true),
        ConfigKey(
            name: "notify.desktop", kind: .toggle, fallback: .boolean(true),
            meaning: "Whether notifications are shown on the desktop, where there is one.",
            isLive: true),
        ConfigKey(
            name: "notify.content", kind: .choice(["all", "sender", "none"]),
            fallback: .string("all"),
            meaning: "What a notification shows: all of it, who wrote and where, or neither.",
            isLive: true),
        ConfigKey(
            name: "notify.mentions-only", kind: .toggle, fallback: .boolean(false),
            meaning: "Whether messages in groups notify you only if they mention you.",
            isLive: true),
        ConfigKey(
            name: "notify.quiet-hours", kind: .hours, fallback: .string(""),
            meaning: "When nothing notifies you, such as 22:00-07:00 by this machine's clock.",
            isLive: true),
        ConfigKey(
            name: "notify.calls", kind: .choice(["always", "outside-quiet-hours", "never"]),
            fallback: .string("outside-quiet-hours"),
            meaning: "When a call rings.", isLive: true),
        ConfigKey(
            name: "notify.per-minute", kind: .number(1...600), fallback: .integer(30),
            meaning:
                "Notifications per minute, at most; the next one counts those beyond it.",
            isLive: true),
        ConfigKey(
            name: "notify.time-limit", kind: .number(1...300), fallback: .integer(10),
            meaning: "Seconds that the program for notifications may take before it is ended.",
            isLive: true),
    ]
}

/// A value of the configuration.
enum ConfigValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case boolean(Bool)
    case strings([String])

    /// As it stands in the file.
    var text: String {
        switch self {
        case .string(let text): TOMLDocument.quoted(text)
        case .integer(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue)"
        case .strings(let texts):
            "[" + texts.map(TOMLDocument.quoted).joined(separator: ", ") + "]"
        }
    }
}

extension ConfigKey {
    /// What is wrong with a value of this key, as a sentence without its end; nil if nothing is.
    func fault(of value: ConfigValue) -> String? {
        switch (kind, value) {
        case (.text, .string): nil
        case (.toggle, .boolean): nil
        case (.path, .string(let path)):
            path.isEmpty || path.hasPrefix("/") || path.hasPrefix("~/")
                ? nil : "a path begins with / or ~/"
        case (.home, .string(let name)):
            name.isEmpty || HomeFolders.isName(name) ? nil : HomeFolders.nameRule
        case (.addresses, .strings(let addresses)):
            addresses.first { !Run.isAddress($0) }.map {
                "“\($0)” is not an address: it needs HOST:PORT"
            }
        case (.loopback, .string(let address)):
            address.isEmpty || LoopbackAddress(address) != nil
                ? nil
                : "“\(address)” is not a loopback address: it needs 127.0.0.1:PORT or [::1]:PORT"
        case (.command, .strings(let words)):
            words.first.flatMap { $0.hasPrefix("/") ? nil : "the program needs an absolute path" }
        case (.number(let range), .integer(let number)):
            range.contains(number) ? nil : "it is from \(range.lowerBound) to \(range.upperBound)"
        case (.choice(let words), .string(let word)):
            words.contains(word) ? nil : Self.fault(of: word, among: words)
        case (.hours, .string(let text)):
            text.isEmpty || QuietHours(text) != nil ? nil : "hours are written as 22:00-07:00"
        default: "it takes \(taken)"
        }
    }

    private static func fault(of word: String, among words: [String]) -> String {
        let near = Spelling.nearest(to: word, among: words).map { "; was it \($0)?" } ?? ""
        return "“\(word)” is none of \(words.joined(separator: ", "))" + near
    }

    /// What a value is, for a person.
    var taken: String {
        switch kind {
        case .text: "a text in quotes"
        case .path: "a path in quotes"
        case .home: "the name of a home in quotes"
        case .addresses: "a list of addresses, [\"*:7447\"]"
        case .loopback: "a loopback address in quotes, \"127.0.0.1:7480\""
        case .command: "a list of words, [\"/usr/bin/program\", \"argument\"]"
        case .toggle: "true or false"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: ", ")
        case .hours: "hours in quotes, \"22:00-07:00\""
        }
    }

    /// A value as a person writes it in a shell or a variable: texts need no quotes there.
    func value(typed text: String) throws(TOMLDocument.Fault) -> ConfigValue {
        switch kind {
        case .text, .path, .home, .loopback, .choice, .hours: return .string(text)
        case .toggle:
            switch text.lowercased() {
            case "true", "yes", "on", "1": return .boolean(true)
            case "false", "no", "off", "0": return .boolean(false)
            default: return .string(text)
            }
        case .number: return Int(text).map { .integer($0) } ?? .string(text)
        case .addresses, .command:
            guard text.hasPrefix("[") else {
                return .strings(text.split(separator: " ").map(String.init))
            }
            let document = try TOMLDocument("value = " + text)
            return document.entries.first.flatMap { ConfigValue($0.item.value) } ?? .string(text)
        }
    }
}

extension ConfigValue {
    /// What a file says; nil for lists of anything but texts.
    init?(_ value: TOMLDocument.Value) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .boolean(let isTrue): self = .boolean(isTrue)
        case .array(let items):
            var texts: [String] = []
            for item in items {
                guard case .string(let text) = item.value else { return nil }
                texts.append(text)
            }
            self = .strings(texts)
        }
    }
}
