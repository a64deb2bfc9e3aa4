import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
public import ParleyWire

/// What a changed program can do with the keys of a member and a few seconds of hashing.
extension World {
    /// Signs two operations at one place whose identifiers agree in their first four bytes, and shows
    /// each to others: whoever compares no more than that takes the branches for one.
    ///
    /// Some 130,000 hashes find such a pair, since the liar chooses both. It does so once in a log, and
    /// twice at all.
    ///
    /// - Parameter lane: the lane of the log; lane 0 gets two leaves, which change no roster.
    @discardableResult
    public func grind(
        _ liar: SimulatedNode, in space: SpaceID, lane: Lane = .content
    ) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let tag = LogTag(forgery.id(of: lane))
            guard !liar.disguise.hidden.contains(where: { $0.tag == tag }),
                liar.disguise.groundCount < 2,
                let twins = try forgery.twins(in: lane, at: wall(of: liar), now)
            else { return false }
            liar.disguise.groundCount += 1
            return try part(forgery, twins.left, twins.right, of: space)
        }
    }
}

extension Forgery {
    /// Hashes of one branch that are kept: as many of the other find a match, on average.
    private static let tableCount: UInt64 = 1 << 16

    /// Two runs of one signed operation each, for one place, whose identifiers agree in their first
    /// four bytes.
    func twins(
        in lane: Lane, at clock: UInt64, _ now: UInt64
    ) throws -> (left: Run, right: Run)? {
        let causes = try causes(of: lane)
        func variants(_ text: String) throws -> Variants? {
            let draft = lane == .control ? leaf() : self.text(text, now)
            return try run(draft, at: clock, naming: causes).flatMap {
                Variants($0, in: id(of: lane))
            }
        }
        guard let left = try variants("to some"), let right = try variants("to others") else {
            return nil
        }
        var numbers: [UInt64: UInt64] = [:]
        numbers.reserveCapacity(Int(Self.tableCount))
        for number in 0..<Self.tableCount { numbers[left.start(of: number)] = number }
        // One search in e^64 would go on beyond this.
        for number in 0..<Self.tableCount * 64 {
            guard let twin = numbers[right.start(of: number)] else { continue }
            return (try signed(left, twin), try signed(right, number))
        }
        return nil
    }

    /// A leaf of which nobody has the key: it changes no roster.
    private func leaf() -> Draft {
        var key = liar.randomBytes(32)
        key[31] &= 0x7f
        return Draft(kind: .leafUpdate, lane: .control, payload: key, isErasable: false)
    }

    private func signed(_ variants: Variants, _ number: UInt64) throws -> Run {
        var run = variants.run
        run.operations = [try variants.operation(number)]
        run.heads = [signed(run.first, variants.name(of: number), in: variants.log)]
        return run
    }
}

/// An operation of which eight bytes that mean nothing are counted up: of the salt, or of a key.
private struct Variants {
    let run: Run
    let log: LogID
    private let original: Operation
    private let saltByteCount: Int
    private let tip: OperationID

    init?(_ run: Run, in log: LogID) {
        guard let original = run.operations.first, case .present(let salt, _) = original.body
        else { return nil }
        self.run = run
        self.log = log
        self.original = original
        saltByteCount = salt.count
        tip = run.anchor ?? OperationID(reinterpreting: log)
    }

    private func tail(_ number: UInt64) -> [UInt8] {
        var tail = original.tail
        withUnsafeBytes(of: number) { tail.replaceSubrange(0..<8, with: $0) }
        return tail
    }

    func operation(_ number: UInt64) throws(DecodingFailure) -> Operation {
        try Operation(head: original.head, tail: tail(number), isErased: false)
    }

    func name(of number: UInt64) -> OperationID {
        let tail = tail(number)
        var hash = LabelledHash(.op)
        hash.update(tip)
        hash.update(original.head)
        hash.update(
            payloadCommitment(
                salt: saltByteCount == 0 ? nil : tail[..<saltByteCount],
                payload: tail[saltByteCount...]))
        return hash.finalize()
    }

    /// The first four bytes of its name.
    func start(of number: UInt64) -> UInt64 { name(of: number).prefix >> 32 }
}
