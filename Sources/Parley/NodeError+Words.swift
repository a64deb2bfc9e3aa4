import ParleyLedger
import ParleyNodeCore

extension NodeError {
    /// The words that people pass to each other, by how they begin, and where each of them goes.
    private static let words = [
        ("parley:1:", "That is an invite: use it with `parley accept`."),
        ("parley:g1:", "That is a link into a group: use it with `parley group join`."),
        ("parley:c1:", "That is a card: use it with `parley contact request`."),
        ("parley:v1:", "That is a code: use it with `parley contact verify NAME --code`."),
        ("parley-device:1:", "That links a device: use it with `parley device accept-link`."),
    ]

    /// A word that is not what was requested.
    ///
    /// - Parameters:
    ///   - prefix: how the requested text begins.
    ///   - hint: told where the word is of no other kind either.
    init(_ code: String, _ message: String, not word: String, prefix: String, hint: String) {
        let other = Self.words.first { $0.0 != prefix && word.hasPrefix($0.0) }
        self.init(code, message, hint: other?.1 ?? hint)
    }
}

extension NodeError {
    /// A text that is to name a conversation, or the person of one, names neither.
    static func unknownConversation(_ argument: String) -> NodeError {
        NodeError(
            NodeError(.unknownConversation).code,
            "No conversation or contact matches “\(argument)”.",
            hint: "`parley conversations` and `parley contacts` list them; `parley invite` adds a "
                + "person.")
    }

    /// A device that is to be kept is none of a person's.
    public static func unknownDevice(_ word: String, among devices: [String]) -> NodeError {
        NodeError(
            "unknown-device", "None of this person's devices begins with “\(word)”.",
            hint: "They are: " + devices.map { String($0.prefix(12)) }.joined(separator: ", "))
    }
}

extension NodeError {
    private static let isCalled = "” is called "

    /// No conversation has this name any more; these had it.
    init(_ former: String, isCalledNow names: [String]) {
        let now = names.sorted().map { "“\($0)”" }.joined(separator: " or ")
        self.init(
            "unknown-conversation", "There is no such conversation.",
            hint: "“\(former)\(Self.isCalled)\(now) now.")
    }

    /// Whether its hint tells what something is called now, which nothing else explains better.
    public var isOfFormerName: Bool { hint?.contains(Self.isCalled) == true }
}

/// What is wrong with the stored data, as a part of a sentence.
func words(of error: any Error) -> String {
    guard let error = error as? StoreError else { return "\(error)" }
    return error.detail.isEmpty
        ? "damage was found while \(error.attempt)" : "\(error.detail), while \(error.attempt)"
}
