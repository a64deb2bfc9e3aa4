/// A message of multicast DNS, as far as nodes need it that look for each other on a local network.
///
/// Source: RFC 6762 and RFC 6763; the used parts: `Protocol/04-links.md`, "Neighbours".
public struct DNSMessage: Equatable, Sendable {
    /// A name: labels from the most particular to the most general, in lower case.
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// The labels.
        public let labels: [[UInt8]]

        /// A name of these labels; ASCII letters in them become small.
        public init(labels: [[UInt8]]) {
            self.labels = labels.map { label in
                label.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
            }
        }

        /// A name as it is written: labels with dots between. Labels hold no dots here.
        public init(_ text: String) {
            self.init(labels: text.split(separator: ".").map { Array($0.utf8) })
        }

        /// The labels with dots between.
        public var description: String {
            labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
        }
    }

    /// The question.
    public struct Question: Equatable, Sendable {
        /// About which name.
        public var name: Name
        /// Of which kind.
        public var type: UInt16

        /// A question about this.
        public init(_ name: Name, type: UInt16) {
            self.name = name
            self.type = type
        }
    }

    /// The data of a record.
    public enum Content: Equatable, Sendable {
        /// An instance of a service.
        case pointer(Name)
        /// Where an instance is.
        case service(port: UInt16, host: Name)
        /// Additional data.
        case text([[UInt8]])
        /// An address of four bytes.
        case address([UInt8])
        /// Data that this code does not interpret.
        case other(type: UInt16)

        /// The number of its kind.
        public var type: UInt16 {
            switch self {
            case .address: 1
            case .pointer: 12
            case .text: 16
            case .service: 33
            case .other(let type): type
            }
        }
    }

    /// A record about a name.
    public struct Record: Equatable, Sendable {
        /// Of which name.
        public var name: Name
        /// For how many seconds it holds; 0 takes it back.
        public var lifetime: UInt32
        /// Whether the sender is the only source for the name, and earlier records are void.
        public var isUnique: Bool
        /// What.
        public var content: Content

        /// A record with these fields.
        public init(_ name: Name, lifetime: UInt32, isUnique: Bool, _ content: Content) {
            self.name = name
            self.lifetime = lifetime
            self.isUnique = isUnique
            self.content = content
        }
    }

    /// Whether it tells something; else it asks.
    public var isResponse: Bool
    /// The questions.
    public var questions: [Question]
    /// The records, of any section.
    public var records: [Record]

    /// A message with these parts.
    public init(isResponse: Bool, questions: [Question] = [], records: [Record] = []) {
        self.isResponse = isResponse
        self.questions = questions
        self.records = records
    }
}
