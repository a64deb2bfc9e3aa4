import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Says something of oneself, beside the name.
    public static let profile = OperationKind(rawValue: 42)
}

extension EntryField {
    /// Profile fields of persons, one entry for each person and field.
    static let profile = EntryField(rawValue: 47)
}

/// One profile field of a person, beside the name.
public struct ProfileField: Equatable, Sendable {
    /// The field. The numbers are stored and sent: never reuse one.
    public enum Subject: UInt8, CaseIterable, Sendable {
        /// What the person does, or how they are: a line of text.
        case status = 1
        /// The language that they want to be written to in, as BCP 47 names it.
        case language = 2
        /// Where their clock is, as the time zone database names it.
        case timeZone = 3
        /// A small picture, in the Base64 of RFC 4648, section 5. Nobody has inspected it.
        case picture = 4

        var byteCountMax: Int {
            switch self {
            case .picture: (Limits.inlineFileByteCountMax * 4 + 2) / 3
            case .status: Limits.nameByteCountMax
            case .language: 35
            case .timeZone: 64
            }
        }
    }

    /// The value.
    public var subject: Subject
    /// What holds; empty for nothing.
    public var value: String

    /// A field of this value; nil where that breaks what the subject demands.
    public init?(_ subject: Subject, _ value: String) {
        guard value.utf8.count <= subject.byteCountMax else { return nil }
        if subject == .picture {
            guard Base64URL.decode(value) != nil else { return nil }
        } else if subject != .status {
            // Printable names in ASCII: they go into no screen and no file otherwise.
            let isPlain = value.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte)
                    || (subject == .timeZone ? "+-/_" : "-").utf8.contains(byte)
            }
            guard isPlain else { return nil }
        }
        self.subject = subject
        self.value = value
    }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadProfile.self, payload),
            let number = UInt8(exactly: message.field), let subject = Subject(rawValue: number)
        else { return nil }
        self.init(subject, message.value)
    }

    /// The operation that says this, in the own space or in a conversation of two.
    public func draft() -> Draft {
        var message = PayloadProfile()
        message.field = UInt32(subject.rawValue)
        message.value = value
        return Draft(kind: .profile, lane: .shared, payload: Payload.encode(message))
    }

    fileprivate static func element(_ subject: Subject, of person: PersonID) -> [UInt8] {
        person.bytes + [subject.rawValue]
    }
}

/// For each person and field the last value in order holds. It is written in the own space, for the
/// person's devices, and in conversations of two, for contacts; not in groups.
enum ProfileRule: MergeRule {
    static let kind = OperationKind.profile
    static let lane = Lane.shared
    static let role = Role.reader

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.roster.kind != .group,
            let field = applied.operation.operation.payload.flatMap(ProfileField.init(payload:)),
            try LastWriter.put(
                .profile, of: ProfileField.element(field.subject, of: context.author.person),
                by: applied, context, in: store)
        else { return [] }
        return [.conversation(context.space.number)]
    }
}

extension Overview {
    /// A person's profile in a space, by field; empty values are left out.
    ///
    /// - Parameter subjects: which are looked for: a picture is long.
    public static func profile(
        of person: PersonID, in space: SpaceNumber,
        _ subjects: [ProfileField.Subject] = ProfileField.Subject.allCases,
        store: some MergeStore
    ) throws(StoreError) -> [ProfileField.Subject: String] {
        var found: [ProfileField.Subject: String] = [:]
        for subject in subjects {
            let element = try store.locator(ProfileField.element(subject, of: person))
            let kept = try store.entries(
                about: .space, in: space, field: .profile, element: element)
            guard let entry = kept.first,
                let field = try store.operation(entry.operation)?.operation.payload
                    .flatMap(ProfileField.init(payload:)), !field.value.isEmpty
            else { continue }
            found[subject] = field.value
        }
        return found
    }
}
