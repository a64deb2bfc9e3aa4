import Parley

/// The node of a home, opened by this very process.
enum HomeNode {
    /// Opens it for one command.
    static func open(
        home: String, passphrase: @Sendable () throws -> [UInt8]?
    ) async throws -> World.Access {
        throw NodeError("unwired", "this program cannot open a home yet")
    }

    /// Makes a home. Returns the recovery code.
    static func create(home: String, name: String, passphrase: [UInt8]?) async throws -> String {
        throw NodeError("unwired", "this program cannot make a home yet")
    }

    /// Opens it to run.
    static func openToRun(
        home: String, passphrase: @Sendable () throws -> [UInt8]?
    ) async throws -> RunningHome {
        throw NodeError("unwired", "this program cannot run a home yet")
    }
}

/// A node that this process runs.
struct RunningHome: Sendable {
    var node: any NodeService
    var start: @Sendable (_ listen: [String]) async throws -> Void
    var shutdown: @Sendable () async -> Void
}
