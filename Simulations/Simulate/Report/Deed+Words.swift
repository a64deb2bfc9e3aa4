extension Deed {
    /// Longest text of an act in a report, in characters.
    static let wordsMax = 160

    /// What it is with all that belongs to it, cut off where it is long.
    public var words: String {
        guard let child = Mirror(reflecting: self).children.first else { return name }
        let fields = Mirror(reflecting: child.value).children.map { field in
            let value = Self.plain(field.value)
            return field.label.map { $0.hasPrefix(".") ? value : "\($0) \(value)" } ?? value
        }
        let text = fields.isEmpty ? Self.plain(child.value) : fields.joined(separator: ", ")
        let all = "\(name) \(text)"
        return all.count > Self.wordsMax ? all.prefix(Self.wordsMax - 1) + "…" : all
    }

    /// Whether it is something that breaks, or mends what broke, and not what people do.
    public var isFault: Bool { !Mix.isOfPeople(name) }

    private static func plain(_ value: Any) -> String {
        switch value {
        case let groups as [[String]]:
            groups.map { $0.joined(separator: " ") }.joined(separator: " | ")
        case let texts as [String]: texts.joined(separator: " / ")
        case let text as String: "“\(text)”"
        default: "\(value)"
        }
    }
}
