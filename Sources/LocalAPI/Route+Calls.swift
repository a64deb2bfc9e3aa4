internal import Parley

extension Route {
    /// What can be asked about calls.
    static let aboutCalls: [Route] = [
        Route("callSettings") { node, _ in try await node.callSettings() },
        Route("setMediaProgram", ["words"]) { node, a in
            try await node.setMediaProgram(a("words"))
        },
        Route("addTurnServer", ["address", "name?", "password?", "secret?"]) { node, a in
            try await node.addTurnServer(
                a("address"), name: a.optional("name"), password: a.optional("password"),
                secret: a.optional("secret"))
        },
        Route("removeTurnServer", ["address"]) { node, a in
            try await node.removeTurnServer(a("address"))
        },
    ]
}
