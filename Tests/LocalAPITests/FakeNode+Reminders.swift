import ParleyNodeCore

@testable import Parley

extension FakeNode {
    /// Reminders are noted, taken, done and ended.
    func answerReminders() {
        answer(AddReminder.self) { state, request in
            let reminder = ReminderView(
                id: "000000000000000\(state.reminders.count + 1)", time: request.time,
                state: "waiting", text: request.text ?? "", subject: request.message?.text,
                conversation: nil, place: nil, device: "laptop", isHere: true, isOrphaned: false)
            state.reminders.append(reminder)
            return reminder
        }
        answer(ListReminders.self) { state, _ in state.reminders }
        answer(ChangeReminder.self) { state, request in
            let place = try state.place(ofReminder: request.reminder)
            if request.done { state.reminders[place].state = "done" }
            state.reminders[place].isHere = true
            return state.reminders[place]
        }
        answer(DeleteReminder.self) { state, request in
            state.reminders.remove(at: try state.place(ofReminder: request.reminder))
            return NoReply()
        }
    }
}

extension FakeNode.State {
    fileprivate func place(ofReminder id: String) throws -> Int {
        // Numbers begin with zeros here, so their ends tell them apart.
        guard let place = reminders.firstIndex(where: { $0.id.last == id.last }) else {
            throw NodeError(together: .unknownReminder)
        }
        return place
    }
}
