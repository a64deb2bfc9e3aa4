internal import Parley

extension Route {
    /// What can be asked about relays.
    static let aboutRelays: [Route] = [
        Route("relays") { node, _ in try await node.relays() },
        Route("addRelay", ["text", "tickets"]) { node, a in
            try await node.addRelay(a("text"), tickets: a("tickets"))
        },
        Route("removeRelay", ["name"]) { node, a in
            try await node.removeRelay(a("name"))
            return Nothing()
        },
        Route("moveRelay", ["name", "text"]) { node, a in
            try await node.moveRelay(a("name"), to: a("text"))
        },
        Route("outbox") { node, _ in try await node.outbox() },
        Route("setOffline", ["on"]) { node, a in
            try await node.setOffline(a("on"))
            return Nothing()
        },
    ]
}
