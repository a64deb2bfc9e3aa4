public import ParleyLedger
public import ParleyWire

/// Operations of one log of the control lane, ascending without a gap.
public struct ControlPart: Sendable {
    /// The author.
    public let device: DeviceID
    /// At least one.
    public let operations: [VerifiedOperation]

    /// This part of this device's log.
    public init(_ operations: [VerifiedOperation], by device: DeviceID) {
        self.device = device
        self.operations = operations
    }
}

extension ControlGraph {
    /// How many operations it holds.
    public var count: Int { nodes.count }

    /// Takes parts of several logs, whatever the order in which they are given. What names something
    /// that is neither here nor among them is left out.
    public mutating func add(_ parts: [ControlPart]) {
        // Causes first: each part goes as far as the others let it, and waits for one place of
        // another; so each operation is looked at once, and once more for each of its causes.
        var next = Array(repeating: 0, count: parts.count)
        var ready = Array(parts.indices.reversed())
        var waiting: [LogTip: [Int]] = [:]
        while let place = ready.popLast() {
            let part = parts[place]
            while next[place] < part.operations.count {
                let operation = part.operations[next[place]]
                if let cause = missingCause(of: operation) {
                    waiting[cause, default: []].append(place)
                    break
                }
                guard add(operation, by: part.device) else { break }
                next[place] += 1
                let added = LogTip(tag: operation.tag, sequence: operation.sequence)
                ready += waiting.removeValue(forKey: added) ?? []
            }
        }
    }
}
