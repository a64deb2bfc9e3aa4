/// The findings of a check of everything stored, and the results of a repair.
public struct DoctorReport: Codable, Equatable, Sendable {
    /// Each check, and its result.
    public struct Check: Codable, Equatable, Sendable {
        /// What was checked, as a sentence.
        public var name: String
        /// Whether it holds.
        public var isFine: Bool
        /// Figures, or what is wrong.
        public var detail: String
        /// Whether it could not be checked here, for the reason in ``detail``; it counts as fine.
        public var isSkipped = false
    }

    /// What cannot be read of a conversation, or does not hold.
    public struct Loss: Codable, Equatable, Sendable {
        /// The conversation, in hex.
        public var conversation: String
        /// Its name.
        public var name: String
        /// How many operations.
        public var operationCount: Int
        /// How many of those this device wrote.
        public var ownCount: Int
        /// Who may have them, by name: any of these restores them when connected. Empty if nobody
        /// else is in it, or if its members cannot be read.
        public var sources: [String]
        /// What must happen first, as a clause; without sources, why none can be named, and then
        /// there may be more operations. Nil if it is enough that one of them is connected, or if
        /// there is none.
        public var condition: String?

        /// Its members cannot be read where they are stored, and the count ends where reading does.
        static let needsRepair = "only after a repair is it known who has them"
        /// Of something whose members are not known any more.
        static let mayBeWithMembers = "back from those who are in it, if one of them has it"

        /// What is below the horizon of somebody who came back is given to no device that lacks it.
        static let beyondReturn =
            "when one of them is reached, but for what is from before you came back: nobody gives "
            + "that to a device again"

        /// The rest of it is back.
        static let fromBeforeReturn =
            "from before you came back, and nobody gives that to a device again"

        /// A group that is gone altogether is brought by contacts alone, and who they are is lost.
        static let needsContacts =
            "once you continue as a new device and they are your contacts again"
    }

    /// All checks.
    public var checks: [Check]
    /// What is lost here, by conversation.
    public var losses: [Loss] = []
    /// What was repaired, each a sentence; empty if nothing was.
    public var mended: [String] = []
    /// What to do now, each a sentence.
    public var advice: [String] = []
    /// Whether the database or something in it is damaged; then nothing more is written into it. Parts of
    /// files, and what is made again from messages, lie beside that: a check tells of these.
    public var isDatabaseDamaged = false

    /// Whether all is as it should be.
    public var isFine: Bool { checks.allSatisfy(\.isFine) }

    /// What is damaged, in a few words; nil if nothing is.
    var damage: String? {
        guard isDatabaseDamaged else { return nil }
        return checks.first { !$0.isFine }?.detail ?? "damage was found"
    }
}
