import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

/// The vectors of `Protocol/08-roster.md` with real identity logs, and of the views in
/// `Protocol/03-operations.md`.
@Suite("Roster vectors")
struct RosterVectorTests {
    struct File: Decodable {
        let vectors: [Case]
    }

    struct Case: Decodable {
        struct Verdict: Decodable {
            let operation: Hex
            let verdict: String
        }

        struct Person: Decodable, Equatable {
            let person: String
            let role: UInt8
            let rank: Int
        }

        struct Device: Decodable, Equatable {
            let device: String
            let person: String?
            let rank: Int?
            let horizon: [Place]?
        }

        struct Former: Decodable {
            let device: Hex
            let person: String
            let limits: [Limit]
        }

        struct Content: Decodable {
            let operation, authority, viewAuthority: String
            let view: [Tip]
            let counts: Bool
        }

        let why, kind: String
        let space: Hex
        let frames: [Hex]
        let operations: [Verdict]
        let members: [Person]
        let devices: [Device]
        let former: [Former]
        let authority, digest: String
        let content: [Content]

        func reader() throws -> SpaceReader {
            let kinds: [String: SpaceKind] = ["own": .own, "direct": .direct, "group": .group]
            return try SpaceReader(
                frames, named: space.identifier(), kind: try #require(kinds[kind]))
        }
    }

    /// `all`, `none` or the last place that counts.
    struct Limit: Decodable, Equatable {
        let text: String

        init(_ limit: LogLimit) {
            switch limit {
            case .all: text = "all"
            case .none: text = "none"
            case .through(let last, _): text = "\(last)"
            }
        }

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            text =
                try (try? value.decode(UInt64.self)).map(String.init) ?? value.decode(String.self)
        }
    }

    /// A log's tag in hex, and a place.
    struct Tip: Decodable, Equatable {
        let tag: String
        let place: UInt64

        init(_ tip: LogTip) { (tag, place) = (tip.tag.description, tip.sequence) }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            tag = try list.decode(String.self)
            place = try list.decode(UInt64.self)
        }
    }

    /// A device in hex, a lane and a place.
    struct Place: Decodable, Equatable {
        let device: String
        let lane: UInt8
        let place: UInt64

        init(_ place: LogPlace) {
            device = place.device.description
            (lane, self.place) = (place.lane.rawValue, place.sequence)
        }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            device = try list.decode(String.self)
            lane = try list.decode(UInt8.self)
            place = try list.decode(UInt64.self)
        }
    }

    static let files = [
        "roster/devices", "roster/persons", "roster/genesis", "roster/invites", "view/views",
    ]

    @Test("rosters, verdicts and limits are those of the vectors", arguments: files)
    func rosters(path: String) throws {
        for vector in try Vectors.read(path, as: File.self).vectors {
            let why = vector.why
            let judge = try vector.reader().judge
            let roster = judge.roster
            let members = roster.members.map {
                Case.Person(person: $0.person.description, role: $0.role.rawValue, rank: $0.rank)
            }
            #expect(members == vector.members, "\(why)")
            #expect(devices(of: roster) == vector.devices, "\(why)")
            #expect(LogTag(roster.authority).description == vector.authority, "\(why)")
            #expect(roster.digest.description == vector.digest, "\(why)")
            for expected in vector.operations {
                let reason = judge.graph.reason(of: try expected.operation.identifier())
                #expect(reason.map { name(of: $0.outcome) } == expected.verdict, "\(why)")
            }
            for former in vector.former {
                let device: DeviceID = try former.device.identifier()
                #expect(roster.person(of: device)?.description ?? "" == former.person, "\(why)")
                let limits = Lane.allCases.dropFirst().map {
                    Limit(roster.limit(of: device, lane: $0))
                }
                #expect(limits == former.limits, "\(why)")
            }
        }
    }

    @Test("views, authorities and what counts are those of the vectors", arguments: files)
    func views(path: String) throws {
        for vector in try Vectors.read(path, as: File.self).vectors {
            var reader = try vector.reader()
            for expected in vector.content {
                let (view, roster, counts) = try reader.judgement(on: expected.operation)
                #expect(view?.tips.map(Tip.init) ?? [] == expected.view, "\(vector.why)")
                let authority = roster.map { LogTag($0.authority).description }
                #expect(authority == expected.viewAuthority, "\(vector.why)")
                #expect(counts == expected.counts, "\(vector.why)")
            }
        }
    }

    /// Each device once, with the person whose it is.
    private func devices(of roster: Roster) -> [Case.Device] {
        Set(roster.devices.map(\.device)).sorted().map { device in
            let places = roster.horizon(of: device).places
            return Case.Device(
                device: device.description, person: roster.person(of: device)?.description,
                rank: roster.device(device)?.rank,
                horizon: places.isEmpty ? nil : places.map(Place.init))
        }
    }

    private func name(of outcome: ControlReason.Outcome) -> String {
        switch outcome {
        case .holds: "holds"
        case .void: "void"
        case .rejected: "refused"
        }
    }
}
