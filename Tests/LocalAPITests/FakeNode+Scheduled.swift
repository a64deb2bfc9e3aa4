import ParleyNodeCore

@testable import Parley

extension FakeNode {
    /// Messages to be sent later are noted, moved, sent and deleted.
    func answerScheduled() {
        answer(ScheduleMessage.self) { state, request in
            let scheduled = ScheduledView(
                id: "000000000000000\(state.scheduled.count + 1)", time: request.time,
                state: "waiting", text: request.text, conversation: FakeNode.id,
                place: request.conversation, device: "laptop", isHere: true, isOrphaned: false)
            state.scheduled.append(scheduled)
            return scheduled
        }
        answer(ListScheduled.self) { state, _ in state.scheduled }
        answer(MoveScheduled.self) { state, request in
            let place = try state.place(ofScheduled: request.scheduled)
            state.scheduled[place].time = request.time
            state.scheduled[place].state = "waiting"
            state.scheduled[place].isHere = true
            return state.scheduled[place]
        }
        answer(SendScheduled.self) { state, request in
            state.scheduled.remove(at: try state.place(ofScheduled: request.scheduled))
        }
        answer(DeleteScheduled.self) { state, request in
            state.scheduled.remove(at: try state.place(ofScheduled: request.scheduled))
        }
    }
}

extension FakeNode.State {
    fileprivate func place(ofScheduled id: String) throws -> Int {
        // Numbers begin with zeros here, so their ends tell them apart.
        guard let place = scheduled.firstIndex(where: { $0.id.last == id.last }) else {
            throw NodeError(together: .unknownScheduled)
        }
        return place
    }
}
