import ParleyConversation
import ParleyLedger
import ParleyNodeCore

/// When the recovery code was asked back. It is the person's and not one device's: what their paper says
/// it says wherever it was compared.
/// Source: `Protocol/05-identity.md`, "Preferences".
extension Views {
    /// The last time, on whichever device; nil if never.
    func recoveryCheckTime() throws -> UInt64? {
        let here = try NodeKeys.recoveryCheckTime(in: store)
        guard let ownSpace = core.ownSpace else { return here }
        let anywhere = try Overview.number(.recoveryCheck, ownSpace: ownSpace.number, in: store)
        guard let here, let anywhere else { return here ?? anywhere }
        return max(here, anywhere)
    }
}

extension Node {
    /// Tells the person's other devices that the recovery code was asked back here. A device that came
    /// back by the code, and one of an earlier program, noted it for itself alone.
    func tellRecoveryCheck() async {
        guard await running.bar == nil else { return }
        do {
            let time = try await running.read { try NodeKeys.recoveryCheckTime(in: $0.store) }
            guard let time else { return }
            _ = try await running.perform(.noteRecoveryCheck(at: time))
        } catch {
            // This device may not write yet, or its disk takes nothing: the next start tells it.
        }
    }
}
