import ParleyLedger
import ParleySealing
import ParleyWire

extension Resolution {
    /// The digest that content written under this carries.
    func authority(_ index: AuthorityIndex) -> UInt64 {
        OperationHash.authority(frontier.map { index[$0].id })
    }

    /// What an epoch for this roster names.
    func digest(_ index: AuthorityIndex) -> Digest {
        var ids: [OperationID] = []
        for node in index.nodes.indices where holds(node) && index[node].deed.isInDigest {
            ids.append(index[node].id)
        }
        return ParleySealing.digest(.roster) { hash in
            for id in ids.sorted() { hash.update(id) }
        }
    }

    mutating func makeRoster(_ index: AuthorityIndex) -> Roster {
        findFormer(index)
        let members = index.persons.compactMap { self.standings[$0]?.member }
        var standings = Standings(persons: owners)
        for person in index.persons {
            for (device, standing) in former[person] ?? [:] where owners[device] == nil {
                // Of several persons who call a device theirs the first counts.
                if standings.former[device] == nil { standings.former[device] = standing }
            }
        }
        standings.revocations = revocations(index)
        return Roster(
            kind: index.kind ?? .group, members: members, authority: authority(index),
            digest: digest(index), settings: lives.settings.values(index), invites: invites(index),
            standings: standings)
    }

    private func revocations(_ index: AuthorityIndex) -> [Revocation] {
        var all: [Revocation] = []
        var heard: [DeviceID: [PersonID: [Int]]] = [:]
        // What ended something of a person so far, by the log that it stands in.
        var before: [PersonID: [Int: [Int]]] = [:]
        for node in index.nodes.indices where holds(node) {
            let person: PersonID
            var ended: DeviceID?
            var cut: Cut? = index[node].cut
            switch index[node].deed {
            case .remove(let out), .setRole(let out, .reader): person = out
            case .revokeDevice(let owner, let device):
                (person, ended) = (owner, device)
                let known = heard[device]?[person]
                let witnesses =
                    known ?? self.witnesses(endings(of: device, of: person, index), index)
                if known == nil { heard[device, default: [:]][person] = witnesses }
                if !witnesses.contains(node) { cut = nil }
            case .genesis, .add, .setRole, .leave, .addDevices, .settings, .invite, .endInvite,
                .redeem:
                continue
            }
            let earlier = (before[person] ?? [:]).values.compactMap { nodes in
                let seen = nodes.firstIndex(afterAll: { index.isInPast($0, of: node) })
                return seen > 0 ? index[nodes[seen - 1]].id : nil
            }
            all.append(
                Revocation(
                    id: index[node].id, depth: index[node].past.count, person: person,
                    device: ended, cut: cut, earlier: earlier.sorted()))
            before[person, default: [:]][index[node].log, default: []].append(node)
        }
        return all.sorted(by: Revocation.precedes)
    }

    /// Everything that holds and ends the operations of a person's device.
    private func endings(
        of device: DeviceID, of person: PersonID, _ index: AuthorityIndex
    ) -> [Int] {
        holding(index.about[person]).filter { node in
            switch index[node].deed {
            case .remove, .setRole(_, .reader): true
            case .revokeDevice(_, let other): other == device
            case .genesis, .add, .setRole, .leave, .addDevices, .settings, .invite, .endInvite,
                .redeem:
                false
            }
        }
    }

    private func invites(_ index: AuthorityIndex) -> [LiveInvite] {
        let rules = lives.settings.values(index).rules
        return holding(index.invites).compactMap { node -> LiveInvite? in
            let left = usesLeft(of: node, index)
            guard left > 0, case .invite(let key, let role, _, let expires) = index[node].deed,
                let inviter = standings[index[node].author]?.member,
                rules.rights(of: inviter.role).contains(.invite)
            else { return nil }
            return LiveInvite(
                operation: index[node].id, inviter: index[node].author, key: key, role: role,
                usesLeft: left, expires: expires)
        }.sorted { $0.operation < $1.operation }
    }
}

extension AuthorityDeed {
    /// Whether epochs must follow where it changes.
    var isInDigest: Bool {
        switch self {
        case .settings, .invite, .endInvite: false
        case .genesis, .add, .remove, .setRole, .leave, .addDevices, .revokeDevice, .redeem: true
        }
    }
}
