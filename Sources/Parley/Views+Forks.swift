import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Devices that wrote two different histories, in words.
extension Views {
    /// Whether this very device did.
    func isOwnForked() throws -> Bool {
        try store.hasForked(core.node.device)
    }

    /// Notices about others' devices, one sentence for each; of one person's if they are named. A
    /// revoked device is past.
    func forkSentences(of person: PersonID? = nil) throws -> [String] {
        var told: Set<DeviceID> = []
        var sentences: [String] = []
        for fork in try store.forks() {
            let device = fork.proof.left.device
            guard device != core.node.device, let space = try store.space(fork.proof.space),
                let roster = try roster(of: space),
                let author = roster.member(with: device)?.person,
                person == nil || person == author,
                // Conversations hear of that one by one.
                author != ownPerson || !core.node.log.revoked.contains(device),
                told.insert(device).inserted
            else { continue }
            sentences.append(
                author == ownPerson
                    ? try ownSentence(device) : try sentence(device, of: author, roster))
        }
        return sentences
    }

    private func sentence(
        _ device: DeviceID, of author: PersonID, _ roster: Roster
    ) throws -> String {
        let name = try name(of: author, in: roster)
        return
            "A device of \(name), \(device.short), wrote two different histories, as two copies of "
            + "one home do. Nobody accepts anything more from it: \(name) must continue with a "
            + "new device."
    }

    private func ownSentence(_ device: DeviceID) throws -> String {
        "Your device \(device.short) wrote two different histories, as two copies of one home do. "
            + "Nobody accepts anything more from it: `parley device revoke \(device.short)` "
            + "revokes it."
    }
}
