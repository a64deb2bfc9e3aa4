import ParleyNodeCore
import ParleyStorage

/// What frees room goes through though the disk is full.
extension Node {
    /// Performs a command that frees space. If the disk does not accept its first write, the home
    /// releases its reserved space, and the command is tried once more.
    func performFreeing(_ command: Command) async throws -> CommandReply {
        do {
            return try await running.perform(command)
        } catch let error as NodeError where error.code == "disk-full" {
            guard home.giveSpareRoom() else { throw error }
        }
        do {
            return try await running.perform(command)
        } catch let error as NodeError where error.code == "disk-full" {
            // A home that was opened on a full disk is only read until it is opened again.
            throw NodeError(
                "disk-full", "The disk is full: nothing was deleted yet.",
                hint: "Try again: the node has released the space that it reserves for this.")
        }
    }
}
