public import ParleyWire

/// What is left of a forked log for others: the part below the point where its branches part.
///
/// A node keeps and shows the branch that came to it first. It neither serves, asks for, nor
/// compares anything at or above the point, or two nodes with different branches would exchange
/// for ever. Source: `Protocol/03-operations.md`, "Forks".
extension LogRecord {
    /// The record as far as all honest members can agree on it; the record itself where no fork is
    /// proven.
    public var agreed: LogRecord {
        guard let fork else { return self }
        var agreed = self
        agreed.spans = spans.compactMap { span in
            guard span.first < fork.sequence else { return nil }
            guard span.last >= fork.sequence else { return span }
            return Span(
                first: span.first, last: fork.sequence - 1, anchor: span.anchor, tip: fork.anchor)
        }
        return agreed
    }

    /// Whether the part below the fork is held to its end: the proof then vouches for it.
    public var endsAtFork: Bool {
        guard let fork, let last = agreed.spans.last else { return false }
        return last.last + 1 == fork.sequence
    }
}

extension LogStore {
    /// The logs of a space as far as all honest members can agree on them, ascending by tag.
    public func agreedLogs(in space: SpaceNumber) throws(StoreError) -> [LogRecord] {
        let logs = try logs(in: space)
        // Asked for every digest, and almost never is there a fork.
        return logs.contains { $0.fork != nil } ? logs.map(\.agreed) : logs
    }

    /// One log of a space as far as all honest members can agree on it, or nil.
    public func agreedLog(
        _ tag: LogTag, in space: SpaceNumber
    ) throws(StoreError) -> LogRecord? {
        try log(tag, in: space)?.agreed
    }
}
