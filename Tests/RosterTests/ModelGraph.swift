import CZstd
import Foundation
import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyRoster

/// A graph of operations of persons alone, with what the model of the rules makes of it.
///
/// A line is `[[operation…], [[person, role, rank]…]]`; an operation is
/// `[author, deed, target, role, order, flags, causes…]`: causes are places in the line, order is
/// that of the identifiers, flags are 1 where its author could write it and 2 where it holds.
struct ModelGraph {
    struct Row {
        let author, deed, target, role, order: Int
        let isAdmitted, isLive: Bool
        let causes: [Int]
    }

    let rows: [Row]
    /// Role and rank by person.
    let members: [Int: [Int]]

    init(line: Substring) throws {
        let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
        let parts = try #require(value as? [[[Int]]])
        rows = parts[0].map {
            Row(
                author: $0[0], deed: $0[1], target: $0[2], role: $0[3], order: $0[4],
                isAdmitted: $0[5] & 1 != 0, isLive: $0[5] & 2 != 0,
                causes: Array($0.dropFirst(6)))
        }
        members = Dictionary(uniqueKeysWithValues: parts[1].map { ($0[0], [$0[1], $0[2]]) })
    }

    static func person(_ number: Int) -> PersonID {
        PersonID { $0[0] = UInt8(number + 1) }
    }

    /// An identifier that stands where the model's stood among the others.
    static func identifier<Subject>(_ order: Int) -> Identifier<Subject> {
        Identifier {
            $0[0] = UInt8(order >> 8)
            $0[1] = UInt8(order & 255)
        }
    }

    /// Takes the operations in this order, and says where the resolver differs from the model.
    func differences(in order: [Int]? = nil) -> [String] {
        var graph = AuthorityGraph()
        var numbers: [Int: Int] = [:]
        var found: [String] = []
        for place in order ?? Array(rows.indices) {
            let row = rows[place]
            var past = ClosedSet()
            for cause in row.causes {
                guard let number = numbers[cause] else { return ["\(place) names a refused one"] }
                past.formUnion(graph.index[number].past)
                past.raise(graph.index[number].log, to: 1)
            }
            do {
                numbers[place] = try graph.take(candidate(row, graph.index.logs.count, past))
                if !row.isAdmitted { found.append("\(place) is taken") }
            } catch {
                if row.isAdmitted { found.append("\(place) is refused: \(error)") }
            }
        }
        found += differences(of: graph.whole, numbers)
        // From scratch it comes to the same as step by step.
        var identities = IdentityCache()
        let anew = Resolution(of: graph.whole.set, graph.index, &identities)
        found += differences(of: anew, numbers).map { "anew: \($0)" }
        return found
    }

    private func differences(of resolution: Resolution, _ numbers: [Int: Int]) -> [String] {
        var found: [String] = []
        for (place, number) in numbers.sorted(by: { $0.key < $1.key })
        where resolution.holds(number) != rows[place].isLive {
            found.append("\(place) \(rows[place].isLive ? "does not hold" : "holds")")
        }
        for person in 0..<16 {
            let member = resolution.standings[Self.person(person)]?.member
            let ours = member.map { [Int($0.role.rawValue), $0.rank] }
            if ours != members[person] {
                found.append("person \(person) is \(ours ?? []), not \(members[person] ?? [])")
            }
        }
        return found
    }

    private func candidate(_ row: Row, _ log: Int, _ past: ClosedSet) -> Candidate {
        let target = Self.person(max(row.target, 0))
        let role = Role(rawValue: UInt8(max(row.role, 0))) ?? .reader
        let device: DeviceID = Self.identifier(row.order)
        let wish: Candidate.Wish =
            switch row.deed {
            case 0:
                .genesis(
                    Genesis(
                        kind: .group, creator: device, random: [],
                        founders: [
                            Founder(
                                person: Self.person(row.author), role: .owner, name: "",
                                identity: [])
                        ]))
            case 1: .add(Newcomer(person: target, name: "", identity: []), role)
            case 2: .remove(target, Cut())
            case 3: .setRole(target, role, Cut())
            default: .leave
            }
        return Candidate(
            id: Self.identifier(row.order), space: SpaceID { _ in }, log: log, index: 0,
            past: past, place: LogTip(tag: LogTag(UInt64(row.order)), sequence: 0),
            device: device, wish: wish, author: Self.person(row.author), isProofAsked: false)
    }
}

extension ModelGraph {
    /// The graphs that were computed once, compressed.
    static func vectors() throws -> [Substring] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Protocol/Vectors/roster/agreed.jsonl.zst")
        let packed = try [UInt8](Data(contentsOf: file))
        let opened = [UInt8](unsafeUninitializedCapacity: 4 << 20) { output, count in
            let size = ZSTD_decompress(output.baseAddress, output.count, packed, packed.count)
            count = ZSTD_isError(size) == 0 ? size : 0
        }
        return String(decoding: opened, as: UTF8.self).split(separator: "\n")
    }
}
