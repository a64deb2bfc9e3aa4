import ParleyNodeCore

extension NodeError {
    /// Why something cannot be done with messages that disappear.
    init(disappearing refusal: CommandRefusal) {
        switch refusal {
        case .disappears:
            self.init(
                "disappears",
                "That message disappears: it cannot be edited, pinned, starred or made into "
                    + "something that stays.",
                hint: "`parley forward` sends a copy of it to a conversation.")
        case .disappeared:
            self.init("disappeared", "That message has disappeared.")
        case .impossibleLifetime(let limit):
            self.init(
                "bad-lifetime", "Messages that disappear stay at most \(limit / 86_400) days.",
                hint: "0 has them stay for good.")
        default: preconditionFailure("a refusal that is not about what disappears")
        }
    }
}
