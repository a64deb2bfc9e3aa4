import ParleyWire

extension LogRecord {
    /// Records that these operations are held now. They are new, and leave no second gap.
    public mutating func hold(_ run: VerifiedRun) {
        guard let last = run.operations.last else { return }
        hold(
            Span(first: run.first, last: last.sequence, anchor: run.anchor, tip: last.id),
            tip: last.stand)
    }

    /// The parts of a run that are neither held nor below the floor, ascending: newer operations
    /// may have arrived above it, so that it lies in a gap. Such a part is no longer the newest.
    ///
    /// Asked where something may have come between proving and storing them.
    public func lacking(_ run: VerifiedRun) -> [VerifiedRun] {
        var holes: [Range<UInt64>] = []
        var next = max(run.first, base)
        for span in spans where span.last >= next && span.first <= run.last {
            if next < span.first { holes.append(next..<span.first) }
            next = span.last + 1
        }
        if next <= run.last { holes.append(next..<(run.last + 1)) }
        return holes.compactMap { hole in
            var part = run.droppingFirst(Int(hole.lowerBound - run.first))?.prefix(hole.count)
            if spans.contains(where: { $0.first >= hole.upperBound }) { part?.isBackfill = true }
            return part
        }
    }

    /// Whether the operations join what is held, on the same branch and without a second gap.
    ///
    /// Asked where something may have come between proving and storing them.
    public func canHold(_ run: VerifiedRun) -> Bool {
        for span in spans {
            if span.first <= run.last && run.first <= span.last { return false }
            if span.last + 1 == run.first, span.tip != run.anchor { return false }
            if run.last + 1 == span.first, span.anchor != run.operations.last?.id { return false }
        }
        return upperSpans.count < 2
            || spans.contains { $0.last + 1 == run.first || $0.first == run.last + 1 }
    }

    /// The places right below the span with this one that are not held and not below the base; nil where
    /// nothing is missing there.
    public func gap(below place: UInt64) -> Range<UInt64>? {
        guard let index = spans.firstIndex(where: { $0.first <= place && place <= $0.last })
        else { return nil }
        let begin = max(base, index > 0 ? spans[index - 1].last + 1 : 0)
        return begin < spans[index].first ? begin..<spans[index].first : nil
    }

    mutating func hold(_ added: Span, tip: Stand) {
        if added.last + 1 >= base, added.first > spans.last?.last ?? 0 || spans.isEmpty {
            order.tip = tip
        }
        spans.append(added)
        spans.sort { $0.first < $1.first }
        var joined: [Span] = []
        for span in spans {
            if let last = joined.last, last.last + 1 == span.first {
                joined[joined.count - 1].last = span.last
                joined[joined.count - 1].tip = span.tip
            } else {
                joined.append(span)
            }
        }
        spans = joined
    }
}
