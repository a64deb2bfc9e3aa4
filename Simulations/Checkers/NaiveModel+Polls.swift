import ParleyConversation
import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire

extension NaiveModel {
    /// Polls as Protocol/03-operations.md, "Polls", has them: each in a line that says all of it.
    ///
    /// - Parameters:
    ///   - authors: whose each log is.
    ///   - forks: where logs are forked.
    mutating func foldPolls(
        _ acts: [Act], _ authors: [LogTag: PersonID], forks: [LogTag: UInt64], isGroup: Bool
    ) {
        let shared = acts.filter { $0.lane == .shared && $0.author.role >= .member }
        func mayEnd(_ act: Act) -> Bool {
            guard let target = act.target, let begun = authors[target.tag] else { return false }
            return begun == act.author.person || (isGroup && act.author.role >= .admin)
        }
        let withdrawn = Set(shared.filter { $0.kind == 99 && mayEnd($0) }.compactMap(\.changed))
        for act in shared {
            let isGone = withdrawn.contains(act.named) && act.kind == 96
            let isAboutGone = act.changed.map { withdrawn.contains($0) } ?? false
            if isGone || (isAboutGone && act.kind == 97) { erased.append(act.place) }
        }
        var votes: [Named: [Act]] = [:]
        var closes: [Named: Act] = [:]
        for act in shared where act.hasBody {
            guard let poll = act.changed else { continue }
            if act.kind == 97, Self.mask(of: act) != nil { votes[poll, default: []].append(act) }
            if act.kind == 98, closes[poll] == nil, mayEnd(act), Self.named(by: act) != nil {
                closes[poll] = act
            }
        }
        for act in shared
        where act.kind == 96 && act.hasBody && !withdrawn.contains(act.named) {
            guard let poll = Payload.decode(PayloadPoll.self, act.payload),
                !poll.question.isEmpty, (2...20).contains(poll.options.count)
            else { continue }
            let booth = Booth(
                poll: poll, votes: Self.firstOfEachLog(votes[act.named] ?? []), authors: authors,
                forks: forks)
            let counted = booth.counted(by: closes[act.named])
            polls.append(
                "\(act.place.tag)-\(act.place.sequence) \(act.author.person) \(poll.question) "
                    + "\(poll.options) \(closes[act.named] == nil ? "open" : "closed") "
                    + counted.sorted { $0.key < $1.key }.filter { $0.value != 0 }
                    .map { "\($0.key):\($0.value)" }.joined(separator: " "))
        }
        polls = Array(polls.suffix(256))
    }

    /// What a vote chooses, a bit for each; nil where it says nothing that can be read.
    private static func mask(of act: Act) -> UInt32? {
        guard let vote = Payload.decode(PayloadVote.self, act.payload),
            vote.choices == Set(vote.choices).sorted(), vote.choices.allSatisfy({ $0 < 20 })
        else { return nil }
        return vote.choices.reduce(0) { $0 | 1 << $1 }
    }

    /// Of each log the first 64.
    private static func firstOfEachLog(_ votes: [Act]) -> [Act] {
        votes.filter { vote in
            votes.count {
                $0.place.tag == vote.place.tag && $0.place.sequence < vote.place.sequence
            } < 64
        }
    }

    /// The votes that a close names, each with its mask; nil where its payload breaks a rule.
    fileprivate static func named(by act: Act) -> [(vote: Named, mask: UInt32)]? {
        guard let close = Payload.decode(PayloadPollClose.self, act.payload) else { return nil }
        let bytes = fieldBytes(close.votes)
        guard bytes.count % 36 == 0 else { return nil }
        func number(_ range: Range<Int>) -> UInt64 {
            bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
        }
        return stride(from: 0, to: bytes.count, by: 36).map { start in
            let tag = LogTag(number(start..<start + 8))
            let place = Place(tag: tag, sequence: number(start + 8..<start + 16))
            let check = Check(
                high: number(start + 16..<start + 24), low: number(start + 24..<start + 32))
            return (Named(place: place, check: check), UInt32(number(start + 32..<start + 36)))
        }
    }

    /// Where the votes of one poll are counted.
    private struct Booth {
        var poll: PayloadPoll
        /// In order.
        var votes: [Act]
        var authors: [LogTag: PersonID]
        var forks: [LogTag: UInt64]

        private func fitting(_ mask: UInt32) -> UInt32 {
            let isOne = mask.nonzeroBitCount <= 1 || poll.multiple
            return mask < 1 << UInt32(poll.options.count) && isOne ? mask : 0
        }

        func counted(by close: Act?) -> [PersonID: UInt32] {
            var counted: [PersonID: UInt32] = [:]
            guard let close else {
                for vote in votes {
                    counted[vote.author.person] = NaiveModel.mask(of: vote).map(fitting)
                }
                return counted
            }
            for (name, mask) in NaiveModel.named(by: close) ?? [] {
                let tag = name.place.tag
                guard let person = authors[tag], counted[person] == nil else { continue }
                if let fork = forks[tag], fork <= name.place.sequence {
                    counted[person] = fitting(mask)
                } else if let vote = votes.first(where: { $0.named == name }) {
                    counted[person] = NaiveModel.mask(of: vote).map(fitting)
                }
            }
            return counted
        }
    }
}

extension Poll {
    /// The same line of what is shown.
    var naiveLine: String {
        "\(reference.tag)-\(reference.sequence) \(author) \(question.question) "
            + "\(question.options) \(closing == nil ? "open" : "closed") "
            + ballots.map { "\($0.person):\($0.choices.mask)" }.joined(separator: " ")
    }
}
