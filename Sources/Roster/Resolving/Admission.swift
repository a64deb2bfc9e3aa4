import ParleyLedger
import ParleySealing
import ParleyWire

/// An operation to be added to the graph: its content, and what its author had seen.
struct Candidate: Sendable {
    /// Its content; nothing in it is verified.
    enum Wish: Sendable {
        case genesis(Genesis)
        case add(Newcomer, Role)
        case remove(PersonID, Cut)
        case setRole(PersonID, Role, Cut)
        case leave
        case ident(Ident)
        case settings(SpaceSettings)
        case invite(GroupInvite)
        case redeem(Redeem)
    }

    let id: OperationID
    let space: SpaceID
    let log: Int
    let index: Int
    let past: ClosedSet
    let place: LogTip
    let device: DeviceID
    let wish: Wish
    /// Whose device it is, where nothing has to prove that: tests of the rules alone say so.
    var author: PersonID?
    /// Whether identity operations must prove a person's devices. As ``author``.
    var isProofAsked = true
}

/// Judges candidates by what their authors had seen, so that everyone judges alike for ever.
/// Source: `Protocol/08-roster.md`, "Permissions".
struct Admission {
    let candidate: Candidate
    let index: AuthorityIndex
    /// What follows from everything the author had seen.
    let view: Resolution

    /// The most identity operations of a person up to which devices are added: the rest is for
    /// revocations, so that a thief cannot use it up.
    static let additionCountMax = 24
    /// A member this far from the founder may promote nobody.
    static let raiserRankMax = 253

    /// The author's standing for an operation.
    struct Right {
        let author: PersonID
        let role: Role
        let rank: Int
        let heads: [Int]
        let horizon: Horizon
    }

    func node(_ identities: inout IdentityCache) throws(ControlRejection) -> AuthorityNode {
        switch candidate.wish {
        case .genesis(let genesis): return try self.genesis(genesis)
        case .ident(let ident): return try self.ident(ident, &identities)
        case .redeem(let redeem): return try self.redeem(redeem, &identities)
        case .add(let newcomer, let role):
            try requireGroup()
            let need: Role = role >= .admin ? .owner : need(for: .add, by: try author())
            let right = try right(need)
            guard need == .member || right.rank <= Self.raiserRankMax else { throw .rankExhausted }
            guard view.standings[newcomer.person] == nil else { throw .alreadyMember }
            return try node(
                right, need, .add(newcomer.person, role),
                [try testimony(of: newcomer, below: right.horizon, &identities)])
        case .remove(let person, let cut):
            try requireGroup()
            let right = try right(.admin, over: person)
            return try node(right, .admin, .remove(person), cut: cut)
        case .setRole(let person, let role, let cut):
            try requireGroup()
            let need: Role = role >= .admin ? .owner : .admin
            let right = try right(need, over: person)
            guard right.rank <= Self.raiserRankMax else { throw .rankExhausted }
            return try node(right, need, .setRole(person, role), cut: cut)
        case .leave:
            try requireGroup()
            return try node(try right(.reader), .reader, .leave)
        case .settings(let settings):
            guard index.kind != .own else { throw .fixedRoster }
            // Both persons of a direct conversation are its founders.
            let need: Role = index.kind == .direct ? .reader : .owner
            return try node(try right(need), need, .settings(settings))
        case .invite(let invite): return try self.invite(invite)
        }
    }

    func requireGroup() throws(ControlRejection) {
        guard index.kind == .group else { throw .fixedRoster }
    }

    // MARK: Rights

    func author() throws(ControlRejection) -> PersonID {
        guard let author = candidate.author ?? view.owners[candidate.device] else {
            throw .notInRoster
        }
        return author
    }

    private func right(_ need: Role, over target: PersonID? = nil) throws(ControlRejection) -> Right
    {
        let right = try right(of: try author(), need)
        guard let target else { return right }
        guard let standing = view.standings[target] else { throw .unknownPerson }
        guard right.rank < standing.member.rank else { throw .outranked }
        return right
    }

    func right(of person: PersonID, _ need: Role) throws(ControlRejection) -> Right {
        guard let standing = view.standings[person] else { throw .notInRoster }
        guard standing.member.role >= need else { throw .roleTooLow }
        return Right(
            author: person, role: standing.member.role, rank: standing.member.rank,
            heads: standing.heads.filter { view.role(of: person, by: $0, index) >= need },
            horizon: standing.horizon)
    }

    private func node(
        _ right: Right, _ need: Role, _ deed: AuthorityDeed, _ testimonies: [Testimony] = [],
        cut: Cut = Cut()
    ) throws(ControlRejection) -> AuthorityNode {
        let key = AuthorityKey(rank: right.rank, phase: 0, id: candidate.id)
        return try node(
            right, need, deed, need == .member ? guestKey(of: right.author) : key, testimonies, cut,
            sponsor: nil)
    }

    /// The least role that the rules of the view ask of a person who does this. An admin uses that
    /// right, whatever members may.
    func need(for act: GroupAct, by person: PersonID) -> Role {
        let role = view.standings[person]?.member.role ?? .reader
        return role < .admin ? view.lives.settings.values(index).rules.rule(of: act).role : .admin
    }

    /// Where is heard what a person does who has no rank: as if they were a sponsor, after what let
    /// them in.
    private func guestKey(of person: PersonID) -> AuthorityKey {
        AuthorityKey(
            rank: AuthorityKey.guestRank, phase: 1, age: view.standings[person]?.age ?? 0,
            depth: candidate.past.count, id: candidate.id)
    }

    func node(
        _ right: Right, _ need: Role, _ deed: AuthorityDeed, _ key: AuthorityKey,
        _ testimonies: [Testimony], _ cut: Cut, sponsor: Sponsor?
    ) throws(ControlRejection) -> AuthorityNode {
        // Whatever decides about an operation is heard before it: so hearing comes to one end.
        let grants = right.heads.filter { index[$0].key < key }
        guard !grants.isEmpty else { throw .noGrant }
        return AuthorityNode(
            id: candidate.id, log: candidate.log, index: candidate.index, past: candidate.past,
            place: candidate.place, device: candidate.device, author: right.author,
            sponsor: sponsor, deed: deed, key: key, need: need, grants: grants,
            testimonies: testimonies, cut: cut)
    }

    // MARK: Kinds

    private func genesis(_ genesis: Genesis) throws(ControlRejection) -> AuthorityNode {
        guard index.nodes.isEmpty, candidate.index == 0, candidate.place.sequence == 0 else {
            throw .notGenesis
        }
        guard candidate.isProofAsked else {
            let seats = genesis.founders.map {
                AuthorityDeed.Seat(person: $0.person, role: $0.role, rank: 0)
            }
            return genesisNode(.genesis(genesis.kind, seats, genesis.settings), [], by: genesis)
        }
        let logs: [IdentityLog]
        do throws(GenesisRejection) {
            logs = try genesis.check(by: candidate.device)
        } catch { throw .notGenesis }
        let testimonies = zip(genesis.founders, logs).map { founder, log in
            Testimony(
                person: founder.person, name: founder.name, identity: log.operations,
                devices: log.devices.map(\.device), prekeys: founder.prekeys.filter(\.holds),
                horizon: Horizon())
        }
        let seats = zip(genesis.founders, logs).map { founder, log in
            let isCreator = log.certificate(of: genesis.creator) != nil
            let rank =
                isCreator || genesis.kind != .group
                ? 0 : founder.role >= .admin ? 1 : Member.plainRank
            return AuthorityDeed.Seat(person: founder.person, role: founder.role, rank: rank)
        }
        return genesisNode(
            .genesis(genesis.kind, seats, genesis.settings), testimonies, by: genesis)
    }

    private func genesisNode(
        _ deed: AuthorityDeed, _ testimonies: [Testimony], by genesis: Genesis
    ) -> AuthorityNode {
        let creator = testimonies.first { $0.devices.contains(genesis.creator) }
        return AuthorityNode(
            id: candidate.id, log: candidate.log, index: candidate.index, past: candidate.past,
            place: candidate.place, device: candidate.device,
            author: creator?.person ?? genesis.founders[0].person, sponsor: nil, deed: deed,
            key: AuthorityKey(
                rank: AuthorityKey.genesisRank, phase: 0, id: candidate.id),
            need: .reader, grants: [], testimonies: testimonies, cut: Cut())
    }

    private func ident(
        _ ident: Ident, _ identities: inout IdentityCache
    ) throws(ControlRejection) -> AuthorityNode {
        guard view.standings[ident.person] != nil else { throw .unknownPerson }
        let newcomer = Newcomer(
            person: ident.person, name: "", identity: ident.identity, prekeys: ident.prekeys)
        switch ident.change {
        case .add:
            if isKnown(newcomer, &identities) { throw .addsNothing }
            let testimony = try testimony(of: newcomer, &identities)
            // Further signatures of the same operations say nothing new either.
            if candidate.isProofAsked, !testimony.isNews, areIn(testimony.devices, newcomer.person)
            {
                throw .addsNothing
            }
            // A device that its person's identity log certifies lets itself in: the person is in
            // the space, and nobody else need be awake.
            let author =
                candidate.author ?? view.owners[candidate.device]
                ?? (testimony.devices.contains(candidate.device) ? ident.person : nil)
            guard let author else { throw .notInRoster }
            guard author == ident.person else { throw .roleTooLow }
            return try node(
                try right(of: author, .reader), .reader, .addDevices(ident.person), [testimony])
        case .revoke(let device, let cut):
            let author = try author()
            if author != ident.person { _ = try right(of: author, .admin) }
            if hasRevoked(device, of: ident.person, by: author) { throw .addsNothing }
            let testimony = try testimony(of: newcomer, revoking: device, &identities)
            return AuthorityNode(
                id: candidate.id, log: candidate.log, index: candidate.index,
                past: candidate.past, place: candidate.place, device: candidate.device,
                author: author, sponsor: nil, deed: .revokeDevice(ident.person, device),
                key: AuthorityKey(
                    rank: AuthorityKey.proofRank, phase: 0, id: candidate.id),
                need: .reader, grants: [], testimonies: [testimony], cut: cut)
        }
    }

    /// Whether everything that is claimed about somebody is in the view: nothing need be verified
    /// then.
    private func isKnown(_ newcomer: Newcomer, _ identities: inout IdentityCache) -> Bool {
        guard candidate.isProofAsked else { return false }
        let known = identities.state(of: newcomer.person, in: view.set, index)
        let bytes = Set(known.operations.map(\.bytes))
        guard newcomer.identity.allSatisfy(bytes.contains) else { return false }
        let given = Set(newcomer.identity)
        let devices = known.operations.compactMap { operation -> DeviceID? in
            guard given.contains(operation.bytes),
                case .addDevice(let device, _, _, _) = operation.content
            else { return nil }
            return known.certificates[device] == nil ? nil : device
        }
        return areIn(devices, newcomer.person)
    }

    private func areIn(_ devices: [DeviceID], _ person: PersonID) -> Bool {
        let present = Set(view.standings[person]?.member.devices.map(\.device) ?? [])
        return present.isSuperset(of: devices)
    }

    /// Whether the author's device has revoked this one before, and its person has not come back
    /// since: after being readmitted, a device may say once more how far the other counts.
    private func hasRevoked(
        _ device: DeviceID, of person: PersonID, by author: PersonID
    ) -> Bool {
        let last = index.revocations[person]?.last { node in
            guard case .revokeDevice(_, device) = index[node].deed else { return false }
            return index[node].device == candidate.device && index.contains(view.set, node)
        }
        guard let last else { return false }
        let admissions = view.standings[author]?.admissions[candidate.device] ?? []
        return !admissions.contains { index.isInPast(last, of: $0) }
    }

    private func invite(_ invite: GroupInvite) throws(ControlRejection) -> AuthorityNode {
        try requireGroup()
        switch invite {
        case .open(let key, let role, let uses, let expires):
            let need = need(for: .invite, by: try author())
            return try node(
                try right(need), need, .invite(key: key, role: role, uses: uses, expires: expires))
        case .end(let id):
            let author = try author()
            let found = index.byID[id].flatMap { index.contains(view.set, $0) ? $0 : nil }
            let isOwn = found.map { index[$0].author == author } ?? false
            let need = isOwn ? need(for: .invite, by: author) : Role.admin
            let right = try right(need)
            guard let found, case .invite = index[found].deed else { throw .unknownInvite }
            return try node(right, need, .endInvite(found))
        }
    }
}
