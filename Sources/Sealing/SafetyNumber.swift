import ParleyWire

/// Sixty digits that two persons compare, by reading them out, to know that no one stands between.
///
/// Equal on both sides. It changes with the persons and their root keys and with nothing else: a
/// new device of a verified person does not undo the verification.
/// Source: `Protocol/05-identity.md`, "Safety numbers".
public struct SafetyNumber: Hashable, Sendable, CustomStringConvertible {
    /// The 60 digits.
    public let digits: String

    /// The number of these two persons, in whatever order.
    public init(between one: IdentityLog, and other: IdentityLog) {
        let halves = [one, other].map { Self.half(person: $0.person, root: $0.root) }
        digits = halves.sorted().joined()
    }

    /// The digits in twelve groups of five.
    public var groups: [String] {
        stride(from: 0, to: 60, by: 5).map { start in
            String(digits.dropFirst(start).prefix(5))
        }
    }

    /// The groups with spaces between.
    public var description: String { groups.joined(separator: " ") }

    private static func half(person: PersonID, root: DeviceID) -> String {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { output in
            requireSodium()
            HashState.withTemporary { state in
                state.begin(nil, byteCount: 64)
                state.update(Label.fingerprint.prefixed)
                person.withUnsafeBytes { state.update($0) }
                root.withUnsafeBytes { state.update($0) }
                state.finish(into: output)
            }
            return (0..<6).map { chunk in
                let value = output[chunk * 5..<chunk * 5 + 5].reduce(0) { $0 << 8 | UInt64($1) }
                let group = String(value % 100_000)
                return String(repeating: "0", count: 5 - group.count) + group
            }.joined()
        }
    }
}

/// The number of these two persons. See ``SafetyNumber``.
public func safetyNumber(between one: IdentityLog, and other: IdentityLog) -> SafetyNumber {
    SafetyNumber(between: one, and: other)
}
