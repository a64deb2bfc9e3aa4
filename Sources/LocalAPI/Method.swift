internal import Parley

/// A method of the local API: the request behind its name, and what that takes.
struct Method: Sendable {
    let request: any NodeRequest.Type
    /// Its parameters, in their order.
    let parameters: [ValueForm.Member]

    private init(_ request: any NodeRequest.Type) {
        self.request = request
        do {
            parameters = try FormReader.form(of: request).members
        } catch {
            preconditionFailure("the form of \(request) cannot be read: \(error)")
        }
    }

    /// Everything that can be asked, besides `follow`, which ``ServerConnection`` itself answers.
    static let all = NodeRequests.all.map(Method.init)

    private static let byName = Dictionary(
        all.map { ($0.request.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// The method of this name.
    static func named(_ name: String) throws(Failure) -> Method {
        guard let method = byName[name] else { throw .unknownMethod(name) }
        return method
    }

    /// Asks the node, once the parameters are known to be ours.
    ///
    /// - Parameter grant: what the caller may do; nil for the owner, who may do everything.
    func answer(
        _ arguments: Arguments, from node: any NodeService, holding grant: TokenGrant? = nil
    ) async throws -> any Encodable & Sendable {
        try grant?.check(request)
        try Self.check(arguments, allowed: parameters.map(\.name), method: request.name)
        return try await Self.answer(request, arguments, from: node, holding: grant)
    }

    private static func answer<R: NodeRequest>(
        _ type: R.Type, _ arguments: Arguments, from node: any NodeService,
        holding grant: TokenGrant?
    ) async throws -> any Encodable & Sendable {
        let request = try arguments.decode(type)
        if let fault = request.remoteFault { throw Failure.invalidParameters(fault) }
        guard let grant else { return try await node.perform(request) }
        return grant.shown(try await node.perform(grant.admit(request, on: node)))
    }

    static func check(
        _ arguments: Arguments, allowed: [String], method: String
    ) throws(Failure) {
        guard let stranger = arguments.names.first(where: { !allowed.contains($0) }) else { return }
        throw .invalidParameters(
            "\"\(method)\" has no parameter \"\(stranger.prefix(64))\"")
    }
}
