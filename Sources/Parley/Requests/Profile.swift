import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// The profile of this person, or of a contact.
public struct GetProfile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "profile", RequestScope.read,
        "The profile of a contact, or one's own."
    )
    /// An example of the request.
    public static let example = GetProfile(person: "ben")

    /// The person: their name, or the start of their identifier; nil for oneself.
    public var person: String?

    /// A request with these parameters.
    public init(person: String? = nil) { self.person = person }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ProfileView {
        try await node.read { views in
            try views.profile(of: try person.map { try views.person($0) } ?? views.ownPerson)
        }
    }
}

/// Sets profile fields beside the name: own devices and contacts see them. Nil leaves a field as it
/// is, and an empty text clears it.
public struct ChangeProfile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changeProfile", RequestScope.write,
        "Sets a field of one's own profile, beside the name, which one's devices and contacts see."
    )
    /// An example of the request.
    public static let example = ChangeProfile(
        status: "at the lake", language: "en", timeZone: "Europe/Berlin", picture: "")

    /// What one does, or how one is: a line of at most 256 bytes.
    public var status: String?
    /// The language that one wants to be written to in, as `de` or `pt-BR`.
    public var language: String?
    /// The time zone, such as `Europe/Berlin`.
    public var timeZone: String?
    /// A picture of oneself, in Base64: a JPEG, PNG, GIF or WebP of at most 32 KiB.
    public var picture: String?

    /// A request with these parameters.
    public init(
        status: String? = nil, language: String? = nil, timeZone: String? = nil,
        picture: String? = nil
    ) {
        self.status = status
        self.language = language
        self.timeZone = timeZone
        self.picture = picture
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ProfileView {
        var fields: [ProfileField] = []
        let values: [(subject: ProfileField.Subject, value: String?, form: String)] = [
            (.status, status, "a line of at most \(Limits.nameByteCountMax) bytes"),
            (.language, language, "the tag of a language, such as de or pt-BR"),
            (.timeZone, timeZone, "the name of a time zone, such as Europe/Berlin"),
        ]
        for (subject, value, form) in values {
            guard let value else { continue }
            guard Self.isKnown(value, subject), let field = ProfileField(subject, value) else {
                throw NodeError(
                    "bad-profile",
                    "“\(value)” cannot be used for that.", hint: "The value must be \(form).")
            }
            fields.append(field)
        }
        if let picture {
            let bytes = try PictureView.bytes(picture)
            guard let field = ProfileField(.picture, Base64URL.encode(bytes)) else {
                throw NodeError.badPicture
            }
            fields.append(field)
        }
        for field in fields { _ = try await node.running.perform(.say(field)) }
        return try await node.read { try $0.profile(of: $0.ownPerson) }
    }
}

extension ChangeProfile {
    /// Whether a value means anything, as far as this machine can tell. What others say is shown as they
    /// say it: their time zones may be newer than those here.
    private static func isKnown(_ value: String, _ subject: ProfileField.Subject) -> Bool {
        switch subject {
        case .timeZone where !value.isEmpty:
            // Without a database there is nothing to look it up in.
            TimeZone.knownTimeZoneIdentifiers.isEmpty || TimeZone(identifier: value) != nil
        case .language where !value.isEmpty: LanguageTag.isWellFormed(value)
        case .timeZone, .language, .status, .picture: true
        }
    }
}

/// The form of the tags that name languages.
enum LanguageTag {
    /// Whether a text has the form of RFC 5646: a language of 2 to 8 letters and parts of it, each of 1 to 8
    /// letters and digits; or `x` or `i` and such parts. Something follows a single letter or digit, unless
    /// an `x` is before it.
    static func isWellFormed(_ tag: String) -> Bool {
        let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last else { return false }
        let isPrivate = ["x", "i"].contains(first.lowercased()) && parts.count > 1
        let isLanguage = (2...8).contains(first.utf8.count) && first.utf8.allSatisfy(isLetter)
        guard isPrivate || isLanguage else { return false }
        let isOwnWord = parts.dropLast().contains { $0.lowercased() == "x" }
        guard last.utf8.count > 1 || isOwnWord else { return false }
        return parts.allSatisfy { part in
            (1...8).contains(part.utf8.count)
                && part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}

/// The picture of a person, or nothing where they show none.
public struct GetPicture: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "picture", RequestScope.read,
        "The picture of a contact, or one's own."
    )
    /// An example of the request.
    public static let example = GetPicture(person: "ben")

    /// The person: their name, or the start of their identifier; nil for oneself.
    public var person: String?

    /// A request with these parameters.
    public init(person: String? = nil) { self.person = person }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PictureView {
        try await node.read { views in
            let person = try person.map { try views.person($0) } ?? views.ownPerson
            let text = try views.profileFields(of: person, [.picture])[.picture] ?? ""
            return PictureView(Base64URL.decode(text) ?? [])
        }
    }
}

/// The profile of a person.
public struct ProfileView: Codable, Equatable, Sendable {
    /// The person, in hex.
    public var person: String
    /// What one calls them; of oneself, what one calls oneself.
    public var name: String
    /// Their status; nil if they have none.
    public var status: String?
    /// The language that they want to be written to in; nil where they say nothing.
    public var language: String?
    /// Where their clock is; nil where they say nothing.
    public var timeZone: String?
    /// Whether they show a picture of themselves. See ``GetPicture``.
    public var hasPicture = false
}

extension Views {
    fileprivate func profile(of person: PersonID) throws -> ProfileView {
        let said = try profileFields(of: person)
        return ProfileView(
            person: person.description, name: try bareName(of: person),
            status: said[.status].map(VisibleName.shown), language: said[.language],
            timeZone: said[.timeZone], hasPicture: said[.picture] != nil)
    }

    /// The profile of a person: this person's in the own space, another's in the conversation with
    /// them.
    func profileFields(
        of person: PersonID,
        _ subjects: [ProfileField.Subject] = ProfileField.Subject.allCases
    ) throws -> [ProfileField.Subject: String] {
        let space = person == ownPerson ? core.ownSpace : try directConversation(with: person)
        guard let space else { return [:] }
        return try Overview.profile(of: person, in: space.number, subjects, store: store)
    }
}
