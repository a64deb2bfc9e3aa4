import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Whether contacts put the person into groups without asking.
    public static let additionPolicy = OperationKind(rawValue: 37)
}

extension EntryField {
    /// Who puts the person into groups without asking, in the own space; one entry.
    static let additionPolicy = EntryField(rawValue: 11)
}

/// Who puts a person into groups without asking them, on all their devices.
public enum AdditionPolicy: UInt8, CaseIterable, Sendable {
    /// Nobody: a person who is added is asked first.
    case ask = 1
    /// Accepted contacts.
    case contacts = 2

    /// The operation that says this, in the own space.
    public func draft() -> Draft {
        var message = PayloadAdditionPolicy()
        message.policy = UInt32(rawValue)
        return Draft(kind: .additionPolicy, lane: .shared, payload: Payload.encode(message))
    }
}

extension AdditionPolicy: OwnNote {
    static var kind: OperationKind { .additionPolicy }
    static var entryField: EntryField { .additionPolicy }
    /// There is one.
    var subject: [UInt8] { [0] }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadAdditionPolicy.self, payload),
            let value = UInt8(exactly: message.policy)
        else { return nil }
        self.init(rawValue: value)
    }

    func changes(_ context: MergeContext, in store: some MergeStore) -> [ViewChange] {
        [.additionPolicy]
    }
}

extension Overview {
    /// Who may add the person to groups without asking; by default nobody.
    public static func additionPolicy(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> AdditionPolicy {
        try notes(AdditionPolicy.self, ownSpace: ownSpace, in: store).last ?? .ask
    }
}
