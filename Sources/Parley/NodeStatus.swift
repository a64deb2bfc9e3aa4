/// Who a node is and how it is doing.
public struct NodeStatus: Codable, Equatable, Sendable {
    /// A link to another device.
    public struct Link: Codable, Equatable, Sendable {
        /// The other person's name.
        public var name: String
        /// The other device, in hex.
        public var device: String
        /// Where it is.
        public var address: String
        /// How many milliseconds its clock is ahead; negative where it is behind, nil where it did not
        /// say.
        public var clockAhead: Int64?
    }
    /// Files of messages that are on their way.
    public struct Files: Codable, Equatable, Sendable {
        /// How many files of this device's messages a recipient is not known to have.
        public struct Lack: Codable, Equatable, Sendable {
            /// The person's name.
            public var name: String
            /// How many files.
            public var count: Int
        }
        /// Bytes of all files that are here, also of those of which a part has come.
        public var takenByteCount: UInt64 = 0
        /// Files that are wanted and not all here.
        public var wantedCount = 0
        /// Bytes of them that are not here.
        public var wantedByteCount: UInt64 = 0
        /// Those of them that do not fit into what files may take here.
        public var noRoomCount = 0
        /// Those of them that the disk did not take when they were last tried.
        public var diskFullCount = 0
        /// Names of linked persons who say that they have some of them.
        public var sources: [String] = []
        /// Who is not known to have which of this person's files, among the newest that were sent.
        public var lackedBy: [Lack] = []
    }
    /// The person's name.
    public var name: String
    /// The person, in hex.
    public var person: String
    /// This device, in hex.
    public var device: String
    /// The folder of the node.
    public var home: String
    /// Whether a passphrase protects the keys; else they lie in a file that only the owner reads.
    public var isProtectedByPassphrase: Bool
    /// Where the node listens; empty while it does not run.
    public var addresses: [String]
    /// Open links.
    public var links: [Link]
    /// Conversations held.
    public var conversationCount: Int
    /// Operations held.
    public var operationCount: Int
    /// Bytes of the database on disk.
    public var databaseByteCount: Int
    /// Bytes that links sent and received since the node was started.
    public var sentByteCount: Int
    /// The same, received.
    public var receivedByteCount: Int
    /// Own messages, and changes of messages and of what people do together, that no device of another person
    /// has yet, and groups that were left so.
    public var pendingCount: Int
    /// For whose answer to an invitation some of these wait, each a phrase.
    public var awaited: [String] = []
    /// When the recovery code was last asked back, in Unix milliseconds; nil if never.
    public var recoveryCheckTime: UInt64?
    /// Why nothing may be written, or nil.
    public var readOnlyReason: String?
    /// How often something was refused, by its code.
    public var refusals: [String: Int]
    /// Devices that were seen to write two histories, in hex.
    public var forkedDevices: [String]
    /// What the person should know, each a sentence.
    public var warnings: [String]
    /// Whether something that others hold is still being fetched.
    public var isCatchingUp = false
    /// Whether the disk had no room for the last write.
    public var isDiskFull = false
    /// Own messages and changes that never leave this device: it wrote two histories, and nobody takes
    /// them.
    public var strandedCount = 0
    /// Own messages and changes of which this device, which was revoked, does not hear any more whether
    /// they arrived, or which nobody takes because whoever revoked it did not have them.
    public var unknownCount = 0
    /// Messages that were to be sent later and could not be when their time had come.
    public var failedScheduledCount = 0
    /// Whether another device of the person revoked this one: it writes nothing more.
    public var isRevoked = false
    /// Whether the node runs; else its home was opened for this question alone.
    public var isRunning = false
    /// Whether the node was taken offline, see ``SetOffline``: what is written waits.
    public var isOffline = false
    /// Names of those who ask to be a contact and wait for an answer.
    public var requests: [String] = []
    /// Invitations into groups that wait for an answer.
    public var invitationCount = 0
    /// Groups into which one took a link, and waits for its maker to let one in.
    public var joins: [JoinView] = []
    /// The keys of each conversation that one is in, the newest first.
    public var epochs: [EpochView] = []
    /// What happened to people's devices in the last thirty days, each a sentence, oldest first.
    public var notices: [String] = []
    /// Files of messages that are on their way.
    public var files = Files()
}
