import ParleyNodeCore
import ParleyStorage

/// Who this node is and how it is doing.
public struct GetStatus: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "status", RequestScope.read,
        "Who this node is and how it is doing."
    )
    /// An example of the request.
    public static let example = GetStatus()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> NodeStatus {
        let addresses = node.network.addresses
        let remote = node.network.remoteAddresses
        let refused = node.network.refusals
        let traffic = node.network.traffic
        let failure = await node.running.lastFailure
        let path = node.home.path
        var status = try await node.read { views in
            try views.status(
                home: path, addresses: addresses, remoteAddresses: remote, traffic: traffic,
                transportRefusals: refused, failure: failure)
        }
        status.warnings += try await node.warningsOfInvites()
        status.warnings += node.warningsOfModels
        status.isOffline = node.network.isCutOff
        status.isRunning = node.network.isRunning
        return status
    }
}

/// Changes this person's name, which contacts see once they hear of it.
public struct RenameSelf: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "renameSelf", RequestScope.write,
        "Changes one's own name, which contacts see once they learn of it."
    )
    /// An example of the request.
    public static let example = RenameSelf(name: "Ada")

    /// The name.
    public var name: String

    /// A request with these parameters.
    public init(name: String) {
        self.name = name
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        _ = try await node.running.perform(.setProfile(name: name, addresses: nil))
        return NoReply()
    }
}
