@testable import Parley

extension FakeNode {
    /// Two devices, of which this one is the laptop.
    func answerDevices() {
        answer(ListDevices.self) { _, _ in
            let phone = DeviceView(
                device: "cc", name: "phone", isThis: false, state: "active", isLinked: false,
                lastSeen: 1_700_000_000_000, addresses: [], needsRecoveryCode: false)
            let laptop = DeviceView(
                device: "bb", name: "laptop", isThis: true, state: "active", isLinked: false,
                lastSeen: nil, addresses: ["[::]:7447"], needsRecoveryCode: false)
            return [laptop, phone]
        }
        answer(StartPairing.self) { _, _ in
            DeviceLinkView(text: "parley-device:1:AAAA", expires: 1_700_000_300_000)
        }
        answer(ConfirmPairing.self) { state, request in
            state.calls.append("confirmLink \(request.code)")
            return NoReply()
        }
        answer(GetPairing.self) { _, request in
            DeviceLinkView(text: "", expires: 1_700_000_300_000, code: request.code)
        }
        answer(StopPairing.self) { state, _ in
            state.calls.append("closeLink")
            return NoReply()
        }
        answer(RevokeDevice.self) { state, request in
            state.calls.append("revoke \(request.device) \(request.recoveryCode ?? "-")")
            return NoReply()
        }
        answer(RenameDevice.self) { state, request in
            state.calls.append("rename \(request.device) \(request.name)")
            return NoReply()
        }
    }

    /// What is asked of the node itself.
    func answerSelf() {
        answer(GetStatus.self) { _, _ in FakeNode.status }
        answer(GetProfile.self) { _, request in
            ProfileView(person: "aaaaaaaaaa", name: request.person ?? "ada", timeZone: "UTC")
        }
        answer(ChangeProfile.self) { _, request in
            ProfileView(
                person: "aaaaaaaaaa", name: "ada", status: request.status,
                language: request.language, timeZone: request.timeZone)
        }
        answer(RenameSelf.self) { state, request in
            state.calls.append("rename self \(request.name)")
            return NoReply()
        }
        answer(ListDigests.self) { _, _ in
            [
                DigestView(
                    conversation: Self.id, name: "home", digest: String(repeating: "cd", count: 32),
                    operationCount: 3)
            ]
        }
        answer(ListLosses.self) { _, _ in LossesView(losses: [], areSettingsLost: false) }
        answer(CheckStore.self) { _, _ in
            DoctorReport(checks: [
                .init(name: "Every log is one chain.", isFine: true, detail: "3 operations"),
                .init(name: "Views follow from the log.", isFine: false, detail: "2 rows differ"),
            ])
        }
        answer(CreateBackup.self) { state, request in
            state.calls.append(
                "createBackup \(request.file)" + (request.replacing == true ? " replacing" : ""))
            return BackupReport(
                file: request.file, byteCount: 61, name: "ada", person: "aa", device: "bb",
                time: 1_700_000_000_000, contactCount: 1, conversationCount: 1, logCount: 4,
                operationCount: 3)
        }
        answer(NoteRecoveryCode.self) { state, request in
            state.calls.append("noteRecoveryCode \(request.root.prefix(8))")
            return .known
        }
    }
}
