@testable import Parley

extension FakeNode {
    /// One relay, to which the node is connected.
    func answerRelays() {
        let relay = RelayView(
            relay: "dd", addresses: ["relay.example:7448"], state: "connected", until: nil)
        answer(ListRelays.self) { _, _ in [relay] }
        answer(AddRelay.self) { state, request in
            let words = ["addRelay", request.text] + request.tickets
            state.calls.append(words.joined(separator: " "))
            return relay
        }
        answer(RemoveRelay.self) { state, request in
            state.calls.append("removeRelay \(request.name)")
            return NoReply()
        }
        answer(MoveRelay.self) { state, request in
            state.calls.append("moveRelay \(request.name) \(request.text)")
            return relay
        }
        answer(ListSentAgain.self) { _, _ in [] }
        answer(ListUndelivered.self) { _, _ in [] }
        answer(ListOutbox.self) { _, _ in
            [
                OutboxView(
                    conversation: "ab", name: "home", savedCount: 2, relayedCount: 1,
                    changeCount: 0)
            ]
        }
        answer(SetOffline.self) { state, request in
            state.calls.append("setOffline \(request.on)")
            return NoReply()
        }
    }
}
