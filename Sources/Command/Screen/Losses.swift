import Parley
import ParleyWire

/// Messages about data that a repair of the database lost.
enum Losses {
    /// Refusals of a name that may be among the lost data.
    private static let unknown: Set<String> = ["unknown-conversation", "unknown-person"]

    /// Says that a list that depends on the own settings is incomplete, if so; for programs as
    /// well, beside the data.
    static func warn(of list: String, on node: any NodeService) async throws {
        guard try await node.perform(ListLosses()).areSettingsLost else { return }
        World.current.advise(
            "notice: \(list) may be missing here: a repair of the database lost some of your settings "
                + "and contacts (parley doctor)")
    }

    /// Says which conversations a repair lost that are not in a list, and of which of those that are it
    /// lost something.
    static func warn(
        ofMissingIn list: [ConversationView], on node: any NodeService
    ) async throws {
        let shown = Set(list.map(\.id))
        for loss in try await node.perform(ListLosses()).losses {
            warn(of: loss, isWhole: !shown.contains(loss.conversation))
        }
    }

    /// Says that a repair lost something of a page of a conversation.
    static func warn(
        in conversation: String, on node: any NodeService
    ) async throws {
        let losses = try await node.perform(ListLosses()).losses
        guard !losses.isEmpty else { return }
        let id = try await node.perform(GetConversation(conversation: conversation)).id
        for loss in losses where loss.conversation == id { warn(of: loss, isWhole: false) }
    }

    private static func warn(of loss: DoctorReport.Loss, isWhole: Bool) {
        let part =
            isWhole || loss.operationCount == 0
            ? "" : "\(counted(loss.operationCount, "operation")) of "
        World.current.advise(
            "notice: a repair of the database lost \(part)\(harmless(loss.name)) (parley doctor)")
    }

    /// Adds to a command's failure, the refusal of a name, that the name may have been lost.
    static func explained(_ error: any Error, by node: any NodeService) async -> any Error {
        guard var refusal = error as? NodeError, unknown.contains(refusal.code),
            !refusal.isOfFormerName,
            // The refusal is told in any case.
            let found = try? await node.perform(ListLosses()),
            found.areSettingsLost || !found.losses.isEmpty
        else { return error }
        let lost =
            found.areSettingsLost
            ? "some of your settings and contacts"
            : found.losses.map { harmless($0.name) }.joined(separator: ", and of ")
        refusal.hint =
            "A repair of the database lost \(lost): it may have been among them. `parley doctor` says "
            + "more."
        return refusal
    }
}
