import ParleySealing
import ParleyWire

extension Admission {
    /// Checks the identity operations together with those of the same person that the author had
    /// seen.
    ///
    /// - Parameter floor: what was withheld from the admitting member: nobody passes on what they
    ///   were not given.
    func testimony(
        of newcomer: Newcomer, revoking revoked: DeviceID? = nil, below floor: Horizon = Horizon(),
        _ identities: inout IdentityCache
    ) throws(ControlRejection) -> Testimony {
        var newcomer = newcomer
        newcomer.horizon = newcomer.horizon.raised(to: floor)
        let person = newcomer.person
        guard candidate.isProofAsked else {
            return Testimony(
                person: person, name: newcomer.name, identity: [], devices: [], prekeys: [],
                horizon: newcomer.horizon)
        }
        let known = identities.state(of: person, in: view.set, index).operations
        do throws(IdentityRejection) {
            var byBytes: [[UInt8]: IdentityOperation] = [:]
            for operation in known { byBytes[operation.bytes] = operation }
            var given: [IdentityOperation] = []
            for bytes in newcomer.identity {
                if let same = byBytes[bytes] {
                    given.append(same)
                } else {
                    given.append(try IdentityOperation(bytes))
                }
            }
            let log = try IdentityLog(known + given)
            guard log.person == person else { throw .otherPerson }
            if let revoked {
                guard log.revoked.contains(revoked) else { throw .otherPerson }
            } else {
                guard log.operations.count <= Self.additionCountMax || known.isEmpty else {
                    throw .tooManyOperations(log.operations.count)
                }
            }
            var testimony = Self.testimony(
                of: newcomer, given, log, isAdmission: revoked == nil)
            let seen = Set(known.map(\.id))
            testimony.isNews = !testimony.identity.allSatisfy { seen.contains($0.id) }
            guard revoked != nil || !testimony.devices.isEmpty else { throw .otherPerson }
            return testimony
        } catch { throw .unprovenDevices }
    }

    private static func testimony(
        of newcomer: Newcomer, _ given: [IdentityOperation], _ log: IdentityLog,
        isAdmission: Bool
    ) -> Testimony {
        var devices: Set<DeviceID> = []
        for operation in given {
            if case .addDevice(let device, _, _, _) = operation.content,
                log.certificate(of: device) != nil
            {
                devices.insert(device)
            }
        }
        // What nobody's log kept was signed by strangers.
        let kept = Set(log.operations.map(\.id))
        return Testimony(
            person: newcomer.person, name: newcomer.name,
            identity: given.filter { kept.contains($0.id) },
            devices: isAdmission ? devices.sorted() : [],
            prekeys: isAdmission
                ? newcomer.prekeys.filter { devices.contains($0.device) && $0.holds } : [],
            horizon: newcomer.horizon)
    }
}
