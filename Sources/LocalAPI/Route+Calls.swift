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
        Route("call", ["conversation", "media"]) { node, a in
            try await node.call(conversation: a("conversation"), media: a("media"))
        },
        Route("calls") { node, _ in try await node.calls() },
        Route("callRecords", ["conversation?"]) { node, a in
            try await node.callRecords(conversation: a.optional("conversation"))
        },
        Route("answer", ["call?", "media"]) { node, a in
            try await node.answer(call: a.optional("call") ?? "", media: a("media"))
        },
        Route("reject", ["call?"]) { node, a in
            try await node.reject(call: a.optional("call") ?? "")
            return Nothing()
        },
        Route("hangUp", ["call?"]) { node, a in
            try await node.hangUp(call: a.optional("call") ?? "")
            return Nothing()
        },
        Route("setMedia", ["call?", "media"]) { node, a in
            try await node.setMedia(call: a.optional("call") ?? "", media: a("media"))
        },
        Route("setTyping", ["conversation", "on"]) { node, a in
            try await node.setTyping(conversation: a("conversation"), on: a("on"))
            return Nothing()
        },
        Route("presences") { node, _ in try await node.presences() },
        Route("setPresence", ["presence"]) { node, a in
            try await node.setPresence(a("presence"))
            return Nothing()
        },
        Route("setPrivacy", ["told", "person?"]) { node, a in
            try await node.setPrivacy(a("told"), person: a.optional("person"))
        },
    ]
}
