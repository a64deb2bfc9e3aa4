import ParleyWire

extension Resolution {
    /// Of what ends one device, that whose cuts count.
    ///
    /// Whoever is out may still say that a device of theirs is revoked: their identity log proves
    /// it, and nobody's leave is asked. Did its cut count, a thief could so lift the one that
    /// ended the theft, and a removed member the one of their removal. So nobody is heard of a cut
    /// who was out, unseen by whom that ended, as long as anybody else says where the device ends.
    func witnesses(_ endings: [Int], _ index: AuthorityIndex) -> [Int] {
        let trusted = endings.filter { !isByOneOutside($0, index) }
        return trusted.isEmpty ? endings : trusted
    }

    private func isByOneOutside(_ node: Int, _ index: AuthorityIndex) -> Bool {
        let one = index[node]
        guard case .revokeDevice = one.deed else { return false }
        return index.about[one.author]?.contains { other in
            guard other != node, holds(other), !index.isInPast(node, of: other) else {
                return false
            }
            switch index[other].deed {
            case .remove(let person): return person == one.author
            case .revokeDevice(_, let device): return device == one.device
            case .genesis, .add, .setRole, .leave, .addDevices, .settings, .invite, .endInvite,
                .redeem:
                return false
            }
        } ?? false
    }

    /// Whose standing may change with whether an operation holds: besides those whom it is about
    /// the owners of devices that the one whom it ends had revoked.
    func touched(by node: Int, _ index: AuthorityIndex) -> [PersonID] {
        let one = index[node]
        let ended: PersonID
        switch one.deed {
        case .remove(let person), .revokeDevice(let person, _): ended = person
        case .genesis, .add, .setRole, .leave, .addDevices, .settings, .invite, .endInvite,
            .redeem:
            return one.subjects
        }
        return one.subjects
            + (index.written[ended] ?? []).compactMap { other in
                guard case .revokeDevice(let owner, _) = index[other].deed else { return nil }
                return owner
            }
    }
}
