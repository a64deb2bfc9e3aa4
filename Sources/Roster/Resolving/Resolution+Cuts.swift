import ParleyWire

extension Resolution {
    /// Of what ends one device, that whose cuts count.
    ///
    /// A former member may still say that a device of theirs is revoked: their identity log proves
    /// it, and nobody's permission is needed. If its cut counted, a thief could lift the cut that
    /// ended the theft, and a removed member the one of their removal. So the cut of a former
    /// member, seen by them or not, is ignored as long as anybody else says where the device ends.
    func witnesses(_ endings: [Int], _ index: AuthorityIndex) -> [Int] {
        let trusted = endings.filter { !isByOneOutside($0, index) }
        return trusted.isEmpty ? endings : trusted
    }

    private func isByOneOutside(_ node: Int, _ index: AuthorityIndex) -> Bool {
        let one = index[node]
        guard case .revokeDevice = one.deed else { return false }
        return holding(index.about[one.author]).contains { other in
            guard other != node, !index.isInPast(node, of: other) else { return false }
            switch index[other].deed {
            case .remove(one.author): return !hasReturned(one.author, from: other, by: node, index)
            case .revokeDevice(_, one.device): return true
            default: return false
            }
        }
    }

    /// Whether an operation had seen that a person came back after a removal.
    private func hasReturned(
        _ person: PersonID, from removal: Int, by node: Int, _ index: AuthorityIndex
    ) -> Bool {
        holding(index.about[person]).contains {
            index[$0].admits(person) && index.isInPast(removal, of: $0)
                && index.isInPast($0, of: node)
        }
    }
}
