extension EditLog {
    /// The text that all edits come to.
    public func text() -> ScalarText {
        var text = ScalarText()
        replay { change in
            switch change {
            case .insert(let scalars, let position): text.insert(content[scalars], at: position)
            case .remove(let length, let position): text.remove(length, at: position)
            }
        }
        return text
    }

    /// Maps positions of an earlier text to the text of all edits. Each stays behind the scalar
    /// that was left of it, and behind what others inserted there.
    ///
    /// - Parameter version: the version of that text. Positions beyond its end count as its end.
    public func positions(_ positions: [Int], in version: EventGraph.Version) -> [Int] {
        // A mark that nobody else knows is inserted at each, and found again.
        var marked = self
        let firstMark = content.count
        for (place, position) in positions.enumerated() {
            let author = Author(tag: .max, sequence: UInt64(place))
            let mark = TextEdit(at: position, deleting: 0, inserting: ["\u{0}"])
            marked.append([mark], by: author, after: version)
        }
        var places = [Int?](repeating: nil, count: positions.count)
        marked.replay { change in
            switch change {
            case .insert(let scalars, let start):
                for (index, place) in places.enumerated() {
                    if let place, place >= start { places[index] = place + scalars.count }
                }
                for scalar in scalars where scalar >= firstMark {
                    places[scalar - firstMark] = start + scalar - scalars.lowerBound
                }
            case .remove(let length, let start):
                for (index, place) in places.enumerated() {
                    if let place, place > start { places[index] = place - length }
                }
            }
        }
        let found = places.compactMap(\.self)
        return found.map { place in place - found.count { $0 < place } }
    }

    /// Tells what each edit comes to, one after another.
    ///
    /// What follows a version on which everything before and after agrees is told as it was made. Only
    /// what lies between two such versions is walked through.
    private func replay(_ tell: (TextChange) -> Void) {
        var length = 0
        func note(_ change: TextChange) {
            switch change {
            case .insert(let scalars, _): length += scalars.count
            case .remove(let count, _): length -= count
            }
            tell(change)
        }
        for part in parts() {
            if part.isConcurrent {
                let base = graph.parents(of: part.events.lowerBound)
                var walk = EditWalk(self, from: base, length: length)
                for events in graph.branches(in: part.events) { walk.replay(events, note) }
            } else {
                forEachRun(in: part.events) { run, _ in
                    if let change = change(by: run, ofTextWith: length) { note(change) }
                }
            }
        }
    }

    /// What a run comes to where nobody else edited; nil for nothing.
    private func change(by run: Run, ofTextWith length: Int) -> TextChange? {
        let position = min(run.position, length)
        if run.isInsertion {
            return .insert(
                run.contentStart..<run.contentStart + run.events.count, at: position)
        }
        let count = min(run.events.count, length - position)
        return count > 0 ? .remove(count, at: position) : nil
    }

    // MARK: Parts

    private struct Part {
        var events: Range<Int>
        var isConcurrent: Bool
    }

    /// Divides all events at versions of one event that follows all before it and that all after it follow.
    private func parts() -> [Part] {
        var parts: [Part] = []
        func add(_ events: Range<Int>, isConcurrent: Bool) {
            if events.isEmpty { return }
            if let last = parts.last, last.isConcurrent == isConcurrent {
                parts[parts.count - 1].events = last.events.lowerBound..<events.upperBound
            } else {
                parts.append(Part(events: events, isConcurrent: isConcurrent))
            }
        }
        var frontier: EventGraph.Version = []
        // Whether all so far is in the past of the event before the next one.
        var isAgreed = true
        for (span, lowest) in zip(graph.spans, graph.lowestParentsAfter()) {
            let followsAll = span.parents == frontier
            frontier = frontier.filter { !span.parents.contains($0) } + [span.range.upperBound - 1]
            let begin = span.range.lowerBound
            // From there on somebody else goes another way.
            let end = min(span.range.upperBound, max(begin, lowest + 1))
            guard followsAll, begin < end else {
                add(span.range, isConcurrent: true)
                isAgreed = false
                continue
            }
            // The first event brings together what was apart.
            let first = isAgreed ? begin : begin + 1
            add(begin..<first, isConcurrent: true)
            add(first..<end, isConcurrent: false)
            add(end..<span.range.upperBound, isConcurrent: true)
            isAgreed = end == span.range.upperBound
        }
        return parts
    }
}

extension EventGraph {
    /// For each span the lowest event that the spans after it directly follow: -1 where one follows none,
    /// ``count`` where there are no more.
    fileprivate func lowestParentsAfter() -> [Int] {
        var lowest = Array(repeating: count, count: spans.count)
        for place in spans.indices.dropLast().reversed() {
            lowest[place] = min(lowest[place + 1], spans[place + 1].parents.min() ?? -1)
        }
        return lowest
    }

    /// The spans of a part, each after what it follows. To go from one to another costs what lies between
    /// them: so what goes on where the walk is comes first, then what goes off nearest to it.
    fileprivate func branches(in part: Range<Int>) -> [Range<Int>] {
        let first = span(of: part.lowerBound)
        var runs: [Range<Int>] = []
        var missing: [Int] = []
        var following: [Int: [Int]] = [:]
        for span in spans[first...] where span.range.lowerBound < part.upperBound {
            let number = runs.count
            runs.append(span.range.clamped(to: part))
            // What it follows within the part must come before it.
            let parents = span.range.lowerBound < part.lowerBound ? [] : span.parents
            let before = Set(parents.filter(part.contains).map { self.span(of: $0) - first })
            missing.append(before.count)
            for other in before.sorted() { following[other, default: []].append(number) }
        }
        var order: [Range<Int>] = []
        var ready = Array(runs.indices.filter { missing[$0] == 0 }.reversed())
        while let next = ready.popLast() {
            order.append(runs[next])
            var followers: [Int] = []
            for other in following[next] ?? [] {
                missing[other] -= 1
                if missing[other] == 0 { followers.append(other) }
            }
            // Of these the one that goes on from the end is taken first.
            func parent(_ run: Int) -> Int { spans[first + run].parents.max() ?? -1 }
            ready += followers.sorted { (parent($0), $1) < (parent($1), $0) }
        }
        return order
    }
}
