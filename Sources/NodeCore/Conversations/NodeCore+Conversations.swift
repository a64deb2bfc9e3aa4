import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    /// Room for the header of an operation without causes.
    static let headerByteCountMax = 256

    mutating func createGroup(_ name: String, _ members: [PersonID], _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        if let refusal = Self.refusal(name: name) { return .failure(refusal) }
        guard members.count < Limits.memberCountMax else {
            return .failure(.tooManyMembers(limit: Limits.memberCountMax))
        }
        var newcomers: [Newcomer] = []
        var known: Set<PersonID> = [identity.person]
        for person in members where known.insert(person).inserted {
            guard let newcomer = try newcomer(person, Horizon(), turn.store) else {
                return .failure(.unknownPerson)
            }
            if let refusal = Self.refusal(newcomer) { return .failure(refusal) }
            newcomers.append(newcomer)
        }
        let founders = Self.founders(newcomers, beside: try ownFounder(turn.store))
        let space = try createSpace(.group, with: founders, name: name, &turn)
        if !newcomers.isEmpty {
            let others = newcomers.dropFirst(founders.count)
            try changeRoster(
                others.map { AddMember($0, role: .member, conversation: name).draft() }, in: space,
                &turn)
        }
        let usual = try Overview.usualLifetime(ownSpace: ownSpace?.number, in: turn.store)
        let drafts =
            [ConversationName(name: name).draft(replacing: [])]
            + (usual.map { [MessageLifetime(seconds: $0).draft] } ?? [])
        _ = try write(drafts, in: space, &turn)
        return .success(.space(space.number))
    }

    /// The first members, as many as fit in the operation that begins a space: a later thief of the
    /// creator's keys cannot take them back.
    private static func founders(_ newcomers: [Newcomer], beside own: Founder) -> [Founder] {
        var founders: [Founder] = []
        var room = Limits.operationByteCountMax - headerByteCountMax - byteCount(of: own)
        room -= Limits.nameByteCountMax + 4
        for newcomer in newcomers.prefix(Limits.founderCountMax - 1) {
            let founder = Founder(
                person: newcomer.person, role: .member, name: newcomer.name,
                identity: newcomer.identity, prekeys: newcomer.prekeys)
            room -= byteCount(of: founder)
            guard room >= 0 else { break }
            founders.append(founder)
        }
        return founders
    }

    /// The bytes that a founder needs in an operation, and a little more.
    private static func byteCount(of founder: Founder) -> Int {
        let parts = founder.identity.map(\.count) + founder.prekeys.map(\.bytes.count)
        return parts.reduce(64 + founder.name.utf8.count) { $0 + 4 + $1 }
    }

    mutating func rename(_ id: SpaceID, _ name: String, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        // The two members are the name of a conversation of two: with another name it could pass
        // for a conversation with somebody else.
        try write(in: id, &turn) { space, store throws(StoreError) in
            if let refusal = Self.refusal(name: name) { return .failure(refusal) }
            let previous = try Overview.nameReferences(of: space, in: store)
            return .success(ConversationName(name: name).draft(replacing: previous))
        }
    }

    mutating func describe(_ id: SpaceID, _ text: String, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        try write(in: id, &turn) { space, store throws(StoreError) in
            let limit = Limits.groupDescriptionByteCountMax
            guard text.utf8.count <= limit else {
                return .failure(.tooLong(byteCount: text.utf8.count, limit: limit))
            }
            if try Overview.description(of: space, in: store) ?? "" == text { return .success(nil) }
            let previous = try Overview.descriptionReferences(of: space, in: store)
            return .success(GroupDescription(text: text).draft(replacing: previous))
        }
    }

    mutating func setPicture(_ id: SpaceID, _ content: [UInt8], _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        try write(in: id, &turn) { space, store throws(StoreError) in
            let limit = Limits.inlineFileByteCountMax
            guard content.count <= limit else {
                return .failure(.tooLong(byteCount: content.count, limit: limit))
            }
            if try Overview.picture(of: space, in: store) ?? [] == content { return .success(nil) }
            let previous = try Overview.pictureReferences(of: space, in: store)
            return .success(GroupPicture(content: content).draft(replacing: previous))
        }
    }

    /// Writes an operation that only admins of a group may write.
    ///
    /// - Parameter draft: what to write; nil where it is so already.
    private mutating func write<T: Turn>(
        in id: SpaceID, _ turn: inout T,
        _ draft: (SpaceNumber, T.TurnStore) throws(StoreError) -> Result<Draft?, CommandRefusal>
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        guard space.kind == .group else { return .failure(.directConversation) }
        if let refusal = try self.refusal(writingIn: space, turn.store) { return .failure(refusal) }
        let role = try roster(of: space, turn.store)?.member(identity.person)?.role ?? .reader
        guard role >= .admin else { return .failure(.notAllowed) }
        switch try draft(space.number, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let draft):
            if let draft { _ = try write([draft], in: space, &turn) }
            return .success(.done)
        }
    }

    /// Performs commands that change how the person's devices list a conversation: nobody else is told.
    mutating func list(_ command: Command, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        switch command {
        case .mute(let space, let isOn, let until):
            return try mute(space, isOn, until: until, &turn)
        case .markUnread(let space, let isOn):
            return try note(.unread, of: space, isOn, &turn)
        case .keepFirst(let space, let isOn):
            return try note(.keptFirst, of: space, isOn, &turn)
        case .keepUnsent(let space, let text):
            return try keepUnsent(text, in: space, &turn)
        case .archive(let space, let isOn): return try archive(space, isOn, &turn)
        default: preconditionFailure("a command that changes no list")
        }
    }

    private mutating func mute(_ id: SpaceID, _ isOn: Bool, until: UInt64?, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard try conversation(id, turn.store) != nil, let ownSpace else {
            return .failure(.unknownConversation)
        }
        let draft = Mute(space: id, isOn: isOn, until: isOn ? until : nil).draft()
        _ = try write([draft], in: ownSpace, &turn)
        return .success(.done)
    }

    /// Archives a conversation in its present state, or unarchives it.
    private mutating func archive(_ id: SpaceID, _ isOn: Bool, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store), let ownSpace,
            let roster = try roster(of: space, turn.store)
        else { return .failure(.unknownConversation) }
        var value: [UInt8] = []
        if isOn {
            let newest = try Overview.newestShown(
                of: space, roster: roster, ownSpace: ownSpace.number, in: turn.store)
            let unreadCount = try Overview.unreadCount(
                of: space, roster: roster, ownPerson: identity.person, ownSpace: ownSpace.number,
                in: turn.store)
            value = Archive(stand: newest?.order.stand ?? 0, unreadCount: UInt64(unreadCount)).bytes
        }
        try keep(Preference(.archived, about: id.bytes, value), &turn)
        return .success(.done)
    }

    /// Notes something of a conversation that is so or not.
    private mutating func note(
        _ key: PreferenceKey, of id: SpaceID, _ isOn: Bool, _ turn: inout some Turn
    )
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard try conversation(id, turn.store) != nil, ownSpace != nil else {
            return .failure(.unknownConversation)
        }
        try keep(Preference(key, about: id.bytes, isOn ? [1] : []), &turn)
        return .success(.done)
    }

    /// Marks messages as read. Reading in a conversation removes its mark as unread.
    mutating func markRead(_ shown: ShownMessages, in id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        let result = try tellRead(shown, in: id, &turn)
        if case .success = result { try keep(Preference(.unread, about: id.bytes, []), &turn) }
        return result
    }

    private mutating func tellRead(_ shown: ShownMessages, in id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store),
            let roster = try roster(of: space, turn.store)
        else { return .failure(.unknownConversation) }
        func unreadCount() throws(StoreError) -> Int {
            try Overview.unreadCount(
                of: space, roster: roster, ownPerson: identity.person, ownSpace: ownSpace?.number,
                in: turn.store)
        }
        if let ownSpace, roster.member(identity.person) == nil {
            let before = try unreadCount()
            guard
                let end = try Overview.readOutside(
                    reading: shown, in: space, roster: roster, ownPerson: identity.person,
                    ownSpace: ownSpace.number, turn.store)
            else { return .success(.count(0)) }
            try keep(Preference(.readOutside, about: space.id.bytes, number: end), &turn)
            return .success(.count(before - min(before, try unreadCount())))
        }
        guard belongs(to: roster) else { return .failure(outsideRefusal(roster)) }
        let isTold = try Disclosure.reading.isTold(
            in: id, ownSpace: ownSpace?.number, turn.store)
        var lacking: [LogTag: PlaceSet] = [:]
        for log in try turn.store.logs(in: space.number) where log.lane == .content {
            lacking[log.tag] = try lackedPlaces(of: log, in: space, &turn)
        }
        let progress = try Overview.progress(
            reading: shown, in: space, roster: roster, by: identity.device, isTold: isTold,
            lacking: lacking, ownSpace: ownSpace?.number, turn.store)
        guard !progress.isEmpty else { return .success(.count(0)) }
        let before = try unreadCount()
        if isTold {
            let read = try checked(
                FormerMarks.complete(progress, .read, in: space, turn.store), .read,
                in: space.number, turn.store)
            _ = try write([Receipts(read: read).draft()], in: space, &turn)
        } else {
            for said in QuietReading.preferences(of: progress, by: identity.device, in: id) {
                try keep(said, &turn)
            }
        }
        turn.emit(.changed([.conversation(space.number)]))
        return .success(.count(before - min(before, try unreadCount())))
    }

    /// The conversation with this name, or nil. The own space is not one.
    func conversation(_ id: SpaceID, _ store: some Store) throws(StoreError) -> SpaceRecord? {
        guard let space = try store.space(id), space.kind != .own else { return nil }
        return space
    }
}
