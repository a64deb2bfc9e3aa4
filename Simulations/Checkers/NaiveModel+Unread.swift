import ParleyLedger
import ParleyWire

/// What of a model a person has not read, and what is for them.
extension NaiveModel {
    /// Whether a conversation was put away with all that is here: the place of the newest message, then
    /// how many were unread, of eight bytes each. What hidden persons say brings nothing back.
    func isArchived(
        _ space: SpaceID, by own: NaiveModel, unread: Int, without hidden: Set<PersonID>
    ) -> Bool {
        guard let value = own.preferences[[0, 6] + space.bytes], value.count == 16 else {
            return false
        }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 * 256 + UInt64($1) }
        }
        let isAbove = lines.contains {
            !hidden.contains($0.author) && $0.order.stand > number(value[..<8])
        }
        return !isAbove && unread <= number(value[8...])
    }

    /// The same model of a conversation with what own devices noted as read quietly: after the key 13 and the
    /// conversation eight bytes of the log and the device's name; run lengths, from place 0, every second of
    /// them read.
    func with(quietlyReadBy own: NaiveModel, in space: SpaceID) throws -> NaiveModel {
        var model = self
        for (name, value) in own.preferences
        where name.count == 74 && name.starts(with: [0, 13] + space.bytes) {
            let tag = LogTag(name[34..<42].reduce(0) { $0 * 256 + UInt64($1) })
            var reader = ByteReader(value)
            var (place, isRead) = (0 as UInt64, true)
            while reader.remaining > 0 {
                let count = try reader.number()
                if isRead { model.quiet[tag, default: []].formUnion(place..<place + count) }
                (place, isRead) = (place + count, !isRead)
            }
        }
        return model
    }

    /// Messages of others that this person has not said to have read, on any of these devices; none of whom
    /// they do not want to hear of.
    func unread(
        of person: PersonID, with devices: [DeviceID], without hidden: Set<PersonID> = []
    ) -> [Line] {
        lines.filter { line in
            let isRead = devices.contains { device in
                let key = Progress(
                    isRead: true, actor: Digest(reinterpreting: device), tag: line.place.tag)
                return progress[key]?.contains(line.place.sequence) ?? false
            }
            let isQuiet = quiet[line.place.tag]?.contains(line.place.sequence) ?? false
            return line.author != person && !hidden.contains(line.author) && !line.isDeleted
                && !isRead && !isQuiet
        }
    }

    /// Where each message mentions a person: the first version that does, as long as the last does.
    func mentions(of person: PersonID, without hidden: Set<PersonID> = []) -> [Place] {
        lines.filter {
            $0.author != person && !hidden.contains($0.author) && $0.mentions.includes(person)
        }.compactMap { line in
            said[line.place]?.first { $0.mentions.includes(person) }?.place
        }
    }

    /// Of these places those that the person has not said to have read, on any of these devices.
    func unread(_ places: [Place], with devices: [DeviceID]) -> [Place] {
        places.filter { place in
            !(quiet[place.tag]?.contains(place.sequence) ?? false)
                && !devices.contains { device in
                    let key = Progress(
                        isRead: true, actor: Digest(reinterpreting: device), tag: place.tag)
                    return progress[key]?.contains(place.sequence) ?? false
                }
        }
    }

    /// A message that is answered.
    struct Thread: Equatable {
        var root: OperationReference
        var newest: OrderKey
        var answerCount: Int
        var unreadCount: Int
    }

    /// All of them, the one with the newest answer first.
    func threads(
        unreadBy person: PersonID, with devices: [DeviceID], without hidden: Set<PersonID>
    ) -> [Thread] {
        let unread = Set(unread(of: person, with: devices, without: hidden).map(\.place))
        var threads: [OperationReference: Thread] = [:]
        for line in lines where !line.isDeleted {
            guard let root = line.thread else { continue }
            let count = unread.contains(line.place) ? 1 : 0
            var thread =
                threads[root]
                ?? Thread(root: root, newest: line.order, answerCount: 0, unreadCount: 0)
            thread.newest = max(thread.newest, line.order)
            thread.answerCount += 1
            thread.unreadCount += count
            threads[root] = thread
        }
        return threads.values.sorted { $0.newest > $1.newest }
    }
}
