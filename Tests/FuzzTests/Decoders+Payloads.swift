import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleySignalling
import ParleyWire

@testable import ParleyConversation
@testable import ParleyRoster

extension Decoder {
    /// Protobuf has many spellings of a message, and payloads are never encoded anew.
    private static func payload(
        _ name: String, in source: [String: Int], _ valid: Draft...,
        reads: @escaping @Sendable ([UInt8]) -> Bool
    ) -> Decoder {
        let inputs = valid.map { $0.payload ?? [] }
        return Decoder(
            name: "\(name) payload", sources: source, hasOneSpelling: false,
            inputs: { inputs }, decode: { reads($0) ? $0 : nil })
    }

    private static let message = OperationReference(
        tag: LogTag(7), sequence: 3, check: Check(high: 1, low: 2))

    private static let mentions = Mentions(
        [.init(PersonID { $0[0] = 1 }, at: 0..<4), .init(PersonID { $0[0] = 2 })], everyone: true)

    static let payloads: [Decoder] = [
        payload(
            "text", in: ["Sources/Conversation/Features/Text.swift": 1],
            TextMessage(text: "hello, äöü 👍", forwardedFrom: "Ada").draft(),
            TextMessage(text: "@ann hello", mentions: mentions).draft()
        ) { TextMessage(payload: $0) != nil },
        payload(
            "edit", in: ["Sources/Conversation/Features/Edit.swift": 1],
            MessageEdit(text: "hello").draft(of: message),
            MessageEdit(text: "@ann hello", mentions: mentions).draft(of: message)
        ) { MessageEdit(payload: $0) != nil },
        payload(
            "reaction", in: ["Sources/Conversation/Features/Reaction.swift": 1],
            Reaction(emoji: "👍", isOn: true).draft(to: message)
        ) { Reaction(payload: $0) != nil },
        payload(
            "call", in: ["Sources/Conversation/Features/CallRecord.swift": 1],
            CallRecord(
                call: CallID(Check(high: 1, low: 2)), founder: PersonID { $0[0] = 1 },
                began: 1_700_000_000_000,
                summary: CallSummary(
                    outcome: .talked, duration: 61_000,
                    persons: [PersonID { $0[0] = 1 }, PersonID { $0[0] = 2 }])
            ).draft()
        ) { CallRecord(payload: $0) != nil },
        payload(
            "name", in: ["Sources/Conversation/Features/Name.swift": 1],
            ConversationName(name: "trip").draft(replacing: [])
        ) { ConversationName(payload: $0) != nil },
        payload(
            "description", in: ["Sources/Conversation/Features/Description.swift": 1],
            GroupDescription(text: "who brings what").draft(replacing: [])
        ) { GroupDescription(payload: $0) != nil },
        payload(
            "lifetime", in: ["Sources/Conversation/Features/Disappearing.swift": 1],
            MessageLifetime(seconds: 60).draft
        ) { MessageLifetime(payload: $0) != nil },
        payload(
            "picture", in: ["Sources/Conversation/Features/GroupPicture.swift": 1],
            GroupPicture(content: [0xFF, 0xD8, 0xFF]).draft(replacing: [])
        ) { GroupPicture(payload: $0) != nil },
        payload(
            "profile", in: ["Sources/Conversation/Features/Profile.swift": 1],
            Draft(kind: .profile, lane: .shared, payload: [0x08, 0x02, 0x12, 0x02, 0x64, 0x65])
        ) { ProfileField(payload: $0) != nil },
        payload(
            "receipts", in: ["Sources/Conversation/Features/Receipts.swift": 2],
            Receipts(
                read: [.init(tag: LogTag(1), places: PlaceSet(3..<9))],
                delivered: [
                    .init(
                        tag: LogTag(2), places: PlaceSet(0..<1 << 40),
                        check: Check(high: 3, low: 4))
                ]
            ).draft()
        ) { Receipts(payload: $0) != nil },
        own,
        together,
        payload("genesis", in: ["Sources/Roster/Genesis.swift": 1], genesis) { bytes in
            (try? Genesis(payload: bytes)) != nil
        },
    ]

    /// The payloads of the own space, and cards.
    private static let own = Decoder(
        name: "own space and card payloads",
        sources: [
            "Sources/Conversation/Features/Mute.swift": 1,
            "Sources/Conversation/Features/DeviceName.swift": 1,
            "Sources/Conversation/Features/RelayChoice.swift": 1,
            "Sources/Conversation/Features/Contact.swift": 1,
            "Sources/Conversation/Features/SharedCard.swift": 1,
            "Sources/Conversation/Features/AdditionPolicy.swift": 1,
            "Sources/Conversation/Features/Preference.swift": 1,
            "Sources/Conversation/Features/SentAgain.swift": 2,
            "Sources/Conversation/Features/Star.swift": 2,
            "Sources/Conversation/Features/Pin.swift": 1,
        ],
        hasOneSpelling: false,
        inputs: {
            let contact = Contact(
                person: PersonID { $0[0] = 1 }, root: Digest { $0[0] = 2 }, alias: "Ben")
            let mute = Mute(space: SpaceID { $0[0] = 3 }, isOn: true, until: 9)
            let name = DeviceName(device: DeviceID { $0[0] = 4 }, name: "telephone")
            let card = SharedCard(card: [1, 2, 3])
            let relay = RelayChoice(
                relay: NoiseKey { $0[0] = 5 }, addresses: ["relay.example:7448"], until: 9)
            let message = OperationReference(
                tag: LogTag(7), sequence: 8, check: Check(high: 9, low: 10))
            let star = Star(space: SpaceID { $0[0] = 6 }, message: message, isOn: true)
            let again = SentAgain(
                SentAgain.Original(tag: LogTag(7), sequence: 8, check: Check(high: 9, low: 10)),
                by: DeviceID { $0[0] = 4 }, in: SpaceID { $0[0] = 6 }, as: message)
            return [
                again.preference.draft(), star.draft(), Pin(isOn: false).draft(of: message),
                contact.draft(), mute.draft(),
                name.draft(), card.draft(),
                relay.draft(),
                AdditionPolicy.contacts.draft(), Preference(.presence, about: [6], [2]).draft(),
            ].map {
                $0.payload ?? []
            }
        },
        decode: { bytes in
            let isRead =
                Contact(payload: bytes) != nil || Mute(payload: bytes) != nil
                || DeviceName(payload: bytes) != nil || SharedCard(payload: bytes) != nil
                || RelayChoice(payload: bytes) != nil
                || AdditionPolicy(payload: bytes) != nil || Preference(payload: bytes) != nil
                || Star(payload: bytes) != nil || OwnDeletion(payload: bytes) != nil
                || Report(payload: bytes) != nil
                || Preference(payload: bytes).flatMap(SentAgain.init) != nil
                || Pin(payload: bytes) != nil
            return isRead ? bytes : nil
        })

    /// The payloads of what people do together.
    private static let together = Decoder(
        name: "payloads of what is done together",
        sources: [
            "Sources/Conversation/Features/Poll.swift": 2,
            "Sources/Conversation/Features/PollClose.swift": 2,
            "Sources/Conversation/Features/ActionItem.swift": 2,
            "Sources/Conversation/Features/Note.swift": 1,
            "Sources/Conversation/Features/Decision.swift": 3,
            "Sources/Conversation/Features/Reminder.swift": 1,
            "Sources/Conversation/Features/ScheduledMessage.swift": 1,
        ],
        hasOneSpelling: false,
        inputs: {
            let poll = OperationReference(
                tag: LogTag(7), sequence: 8, check: Check(high: 9, low: 10))
            let choices = PollChoices([0, 2])
            let question = PollQuestion(
                question: "when?", options: ["Friday", "Saturday"], isMultiple: true, until: 9)
            let item = ItemBeginning(
                title: "book it", assignees: [PersonID { $0[0] = 1 }], due: 9, notes: "soon")
            return [
                NoteTitle("list").draft(),
                NoteEdits(at: 300, deleting: 2, inserting: "milk").draft(of: poll, after: [poll]),
                Reminder(
                    Reminder.ID(7), at: 9, on: DeviceID { $0[0] = 3 },
                    about: .init(space: SpaceID { $0[0] = 4 }, operation: poll), text: "call"
                ).preference.draft(),
                ScheduledMessage(
                    ScheduledMessage.ID(7), at: 9, on: DeviceID { $0[0] = 3 },
                    to: SpaceID { $0[0] = 4 }, TextMessage(text: "good morning")
                ).preference.draft(),
                DecisionProposal(title: "train", text: "so", tags: ["a", "b"]).draft(),
                Approval.draft(of: poll, isOn: true), Settling(.accepted).draft(of: poll),
                item.draft(), ItemChange.title("book").draft(of: poll, replacing: [poll]),
                ItemChange.assignee(PersonID { $0[0] = 2 }, true).draft(of: poll),
                ItemChange.due(8).draft(of: poll),
                question.draft(), choices.draft(in: poll),
                PollClose([.init(operation: poll, choices: choices)]).draft(of: poll),
            ].map { $0.payload ?? [] }
        },
        decode: { bytes in
            let isRead =
                PollQuestion(payload: bytes) != nil || PollChoices(payload: bytes) != nil
                || PollClose(payload: bytes) != nil
                || ItemBeginning(payload: bytes) != nil || ItemChange(payload: bytes) != nil
                || NoteTitle(payload: bytes) != nil || NoteEdits(payload: bytes) != nil
                || DecisionProposal(payload: bytes) != nil || Approval.isOn(payload: bytes) != nil
                || Settling.state(payload: bytes) != nil
                || Preference(payload: bytes).flatMap(Reminder.init) != nil
                || Preference(payload: bytes).flatMap(ScheduledMessage.init) != nil
            return isRead ? bytes : nil
        })

    private static let genesis = Genesis(
        kind: .group, creator: DeviceID { $0[0] = 1 }, random: [UInt8](repeating: 2, count: 16),
        founders: (1...3 as ClosedRange<UInt8>).map { place in
            Founder(
                person: PersonID { $0[0] = place }, role: .member, name: "Ada",
                identity: [[UInt8](repeating: place, count: 200)])
        }
    ).draft()
}
