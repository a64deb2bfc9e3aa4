/// Every bound of the wire in one place, with its unit in its name and its reason beside it.
///
/// A decoder checks against these before it allocates. Source: `Protocol/02-encoding.md`, "Limits".
public enum Limits {
    /// An encoded operation with its payload: a verifiable run must always fit one envelope.
    public static let operationByteCountMax = 48 * 1024
    /// Operations that an operation may name as seen; more open heads are first merged.
    public static let dependencyCountMax = 16
    /// Operations that an operation may be about.
    public static let referenceCountMax = 8
    /// Places in a log stay below 2^62, so that adding two of them cannot overflow.
    public static let placeMax: UInt64 = 1 << 62
    /// Operations in one log of lane 0. All of lane 0 is held in memory while a roster is in use, so nobody
    /// may make it long; what a device writes there by itself becomes rarer the longer it is.
    public static let controlOperationCountMax: UInt64 = 4096
    /// The salt of a payload commitment.
    public static let saltByteCount = 16
    /// A wall clock in Unix milliseconds stays below 2^43 (the year 2248), so that
    /// `wallClock << 16` stays below 2^59.
    public static let wallClockMax: UInt64 = 1 << 43
    /// The clock that an older author adds stays below 2^62.
    public static let clockMax: UInt64 = 1 << 62

    /// One frame on a link, type byte included.
    public static let frameByteCountMax = 256 * 1024
    /// The size up to which a sender fills a frame with operations: small enough to interleave.
    public static let operationsFrameByteCount = 64 * 1024
    /// What the compressed runs of one frame may grow to, together: told before each is opened, and
    /// checked before anything is allocated.
    public static let runByteCountMax = 512 * 1024
    /// Operations of all runs of one frame, or of all frames of one envelope or letter: the smallest
    /// take a few bits when they are compressed, and a hundred bytes each when they are read.
    public static let frameOperationCountMax = 8192
    /// The least that an operation counts towards credit.
    public static let operationCreditByteCount = 32
    /// Runs of lane 1 with more operations than this are compressed; shorter ones gain nothing.
    public static let uncompressedOperationCountMax = 15
    /// Runs in one frame.
    public static let runCountMax = 4096
    /// Operations in one run.
    public static let runOperationCountMax = 4096
    /// Entries in one `SPACES` frame.
    public static let spaceCountMax = 4096
    /// Entries in one `FRONT` or `ACK` frame: a space has at most 1,024 devices with 5 lanes.
    public static let frontierEntryCountMax = 7680
    /// Logs of the receiver that a `FRONT` frame proves: one a lane.
    public static let ownTipCountMax = 5
    /// Ranges in one `WANT` frame.
    public static let wantRangeCountMax = 64
    /// Operations asked for by one `WANT` frame.
    public static let wantOperationCountMax = 4096
    /// Operations of one branch in the proof of a fork: from where the branches part to a signature.
    public static let forkOperationCountMax = 1024
    /// A person's card.
    public static let cardByteCountMax = 16 * 1024

    /// Text of one message, in UTF-8 bytes.
    public static let messageByteCountMax = 32 * 1024
    /// A name of a person or a conversation, in UTF-8 bytes.
    public static let nameByteCountMax = 256
    /// A reaction, in UTF-8 bytes: the longest emoji sequences stay below 40.
    public static let emojiByteCountMax = 64
    /// Reactions of one person to one message that count, those that were taken back included.
    public static let reactionCountMax = 64
    /// The description of a group, in UTF-8 bytes.
    public static let groupDescriptionByteCountMax = 2048
    /// Mentions of persons in one text: for more than these, mention everyone.
    public static let mentionCountMax = 64
    /// The question of a poll, in UTF-8 bytes; its options are names.
    public static let pollQuestionByteCountMax = 1024
    /// Options of a poll.
    public static let pollOptionCountMax = 20
    /// Votes of one device in one poll that may count, those that were replaced included.
    public static let voteCountMax = 64
    /// Persons whose votes a close of a poll names: more than are ever in a conversation at a time.
    public static let pollVoterCountMax = 1024
    /// Polls that are shown of one conversation.
    public static let pollCountMax = 256
    /// The title of an item, in UTF-8 bytes.
    public static let itemTitleByteCountMax = 1024
    /// The notes of an item, in UTF-8 bytes.
    public static let itemNotesByteCountMax = 8 * 1024
    /// Persons assigned to an item when it begins.
    public static let itemAssigneeCountMax = 32
    /// Persons for whom an item keeps the last statement on whether they are assigned.
    public static let itemPersonCountMax = 64
    /// Titles of one thing that are looked at, those that were replaced included.
    public static let itemTitleCountMax = 64
    /// A day in days since 1970 stays below this one (the year 2243).
    public static let itemDayMax: UInt32 = 100_000
    /// Things to be done, and done, that are shown of one conversation.
    public static let itemCountMax = 1024
    /// The title of a note, in UTF-8 bytes.
    public static let noteTitleByteCountMax = 1024
    /// A position in a note, and how many scalars an edit deletes.
    public static let notePositionMax = 0x7FFF_FFFF
    /// Edits in one operation.
    public static let noteEditCountMax = 1024
    /// What the edits of one operation insert, in UTF-8 bytes.
    public static let noteTextByteCountMax = 32 * 1024
    /// Scalars that the edits of one note insert, those that were deleted since included.
    public static let noteScalarCountMax = 1024 * 1024
    /// Operations of one note that count.
    public static let noteOperationCountMax = 256 * 1024
    /// Notes that are shown of one conversation.
    public static let noteCountMax = 1024
    /// Positions that are followed through later edits at a time.
    public static let noteCursorCountMax = 64
    /// The title of a decision, in UTF-8 bytes.
    public static let decisionTitleByteCountMax = 1024
    /// The text of a decision, in UTF-8 bytes.
    public static let decisionTextByteCountMax = 8 * 1024
    /// Tags of one decision.
    public static let decisionTagCountMax = 16
    /// One of these, in UTF-8 bytes.
    public static let decisionTagByteCountMax = 64
    /// Decisions of one conversation that members see alike.
    public static let decisionCountMax = 1024
    /// The text of a reminder, in UTF-8 bytes.
    public static let reminderByteCountMax = 1024
    /// Reminders of a person, those that have rung included.
    public static let reminderCountMax = 512
    /// Messages of a person that are to be sent later.
    public static let scheduledCountMax = 256
    /// Seconds after which a message disappears: at most a year.
    public static let lifetimeSecondsMax: UInt64 = 31_536_000
    /// Calls that are shown of one conversation: one a day for eleven years.
    public static let callRecordCountMax = 4096
    /// An envelope at its smallest; larger ones are of this times a power of two.
    public static let smallestEnvelopeByteCount = 512
    /// An envelope at its largest.
    public static let envelopeByteCountMax = 64 * 1024
    /// Frames in one envelope or letter: an empty one takes two bytes there, and hundreds in memory.
    public static let parcelFrameCountMax = 1024
    /// Steps of a device's chain in one epoch.
    public static let chainStepCountMax = 4096
    /// Keys of skipped steps that are kept of one chain.
    public static let skippedKeyCountMax = 256

    /// Devices in a space: an epoch's operation has an entry for each.
    public static let deviceCountMax = 1024
    /// Prekeys that a device names at a time: the newest, and those before that still live.
    public static let prekeyCountMax = 4
    /// An encoded epoch with entries for the most devices.
    public static let epochByteCountMax = 60 * 1024

    /// Persons in a conversation.
    public static let memberCountMax = 1000
    /// Persons in a conversation at its creation: their proofs must fit one genesis operation.
    public static let founderCountMax = 64

    /// Persons who ask to be a contact and wait for an answer: strangers fill a list, not a disk.
    public static let pendingContactCountMax = 64
    /// Bytes of the letters of each of them that are held, unread, until they are accepted.
    public static let heldLetterByteCountMax = 64 * 1024

    /// Invites of one device that somebody may still take.
    public static let openInviteCountMax = 64
    /// Operations that took a newcomer out before, as their device names them.
    public static let departureCountMax = 16

    /// Persons who may use one invite: a link known to more than these is public.
    public static let inviteUseCountMax = 100

    /// A flush of many operations is signed every so many.
    public static let flushOperationCountMax = 256
    /// … or as soon as it has so many bytes in transfer form.
    public static let flushByteCountMax = 32 * 1024

    /// Bytes of envelopes in one answer of a relay, whose frame has room for one more.
    public static let relayPageByteCountMax = 128 * 1024
    /// Envelopes in one answer of a relay.
    public static let relayEntryCountMax = 512
    /// Keys that may write into one inbox, or read one shelf, at a time.
    public static let inboxWriterCountMax = 8
    /// A ticket that pays for a mailbox.
    public static let ticketByteCount = 32
    /// Seconds for which data that a relay does not store may be of use.
    public static let volatileSecondsMax = 60
    /// Requests that a client may have sent without having an answer.
    public static let relayRequestCountMax = 256
    /// Of these, requests whose answer is a page of envelopes.
    public static let relayLongAnswerCountMax = 32
    /// Mailboxes that one connection to a relay may be told of.
    public static let relaySubscriptionCountMax = 1024
    /// Bytes in one frame of a pipe through a relay: small enough to interleave.
    public static let pipeFrameByteCountMax = 16 * 1024
    /// Bytes that one end of a pipe may have sent without the other's leave for more.
    public static let pipeCreditByteCount = 256 * 1024
    /// Pipes that one connection to a relay has asked for.
    public static let pipeCountMax = 16
    /// Pipes of one connection to a relay that others have asked for.
    public static let pipeOfferCountMax = 32

    /// A datagram of multicast DNS: what its rules allow.
    public static let datagramByteCountMax = 9000
    /// Questions and records in one datagram.
    public static let datagramRecordCountMax = 256

    /// What one device says to another and nobody keeps: a description with room for the rest, and
    /// small enough for an envelope.
    public static let signalByteCountMax = 40 * 1024
    /// A description of one end of a connection for sound and pictures, in UTF-8 bytes.
    public static let descriptionByteCountMax = 32 * 1024
    /// One way by which such a connection may come about, in UTF-8 bytes.
    public static let candidateByteCountMax = 1024
    /// Devices in one call: each sends to every other, so more would be slow for all.
    public static let callDeviceCountMax = 4

    /// A message with its files, as an author writes it: the rest of the operation fits beside it.
    public static let messagePayloadByteCountMax = 44 * 1024
    /// Files in one message.
    public static let attachmentCountMax = 16
    /// A file that travels inside its message.
    public static let inlineFileByteCountMax = 32 * 1024
    /// The name of a file, in UTF-8 bytes: the limit of file systems.
    public static let fileNameByteCountMax = 255
    /// The type of a file, such as "image/jpeg", in UTF-8 bytes.
    public static let fileTypeByteCountMax = 127
    /// A picture in the place of a file.
    public static let previewByteCountMax = 8 * 1024
    /// How loud a recording is, in parts of its time.
    public static let waveformByteCountMax = 128
    /// The transcript of a recording, in UTF-8 bytes.
    public static let transcriptByteCountMax = 4 * 1024
    /// The address of a page that a text names, in bytes.
    public static let linkAddressByteCountMax = 2 * 1024
    /// What such a page calls itself, in UTF-8 bytes.
    public static let linkTitleByteCountMax = 300
    /// The description of such a page, in UTF-8 bytes.
    public static let linkDescriptionByteCountMax = 1000
    /// What the place of such a page calls itself, in UTF-8 bytes.
    public static let linkSiteByteCountMax = 100
    /// A file: more goes through nothing that people have at home within a day.
    public static let fileByteCountMax: UInt64 = 4 << 30
    /// A sealed chunk, its tag included, but for the last one of a file.
    public static let chunkByteCount = 64 * 1024
    /// The bytes of a file in one chunk.
    public static let plainChunkByteCount = chunkByteCount - 16
    /// Chunks of a file.
    public static let chunkCountMax = 65_553
    /// Chunks whose hashes go in one frame: 128 KiB.
    public static let sectionChunkCountMax = 4096
    /// Such frames of a file.
    public static let sectionCountMax = 17
    /// Blobs that one frame asks about.
    public static let askedBlobCountMax = 256
    /// Ranges of chunks by which a device says what it holds of a blob.
    public static let heldRangeCountMax = 64
    /// Chunks that one frame asks for.
    public static let wantedChunkCountMax = 64
}
