import Foundation
import ParleyLedger
import ParleyWire
import Testing

/// Reads the very files that the protocol's pages link to.
enum Vectors {
    static func read<File: Decodable>(_ path: String, as: File.Type = File.self) throws -> File {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appendingPathComponent("Protocol/Vectors/\(path).json")
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    }
}

/// Bytes that a vector writes in hex.
struct Hex: Decodable, Equatable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let decoded = ParleyWire.bytes(hex: text)
        bytes = try #require(decoded)
    }

    func identifier<Subject>() throws -> Identifier<Subject> {
        try #require(Identifier(bytes))
    }

    /// The runs of an `OPS` frame.
    func runs() throws -> [Run] {
        guard case .operations(let operations) = try Frame.decode(bytes) else {
            throw DecodingFailure.forbidden(field: "frame")
        }
        return operations.runs
    }
}

/// What a node knows of one log, as the vectors write it.
struct HeldLog: Decodable {
    struct Stretch: Decodable {
        let first, last: UInt64
        let before, tip: Hex
    }

    /// Where two histories part.
    struct Fork: Decodable {
        let place: UInt64
        let before: Hex
    }

    /// The last place of a cut or a floor; a cut at nothing has none.
    struct Place: Decodable {
        let place: UInt64?
        let operation: Hex?
    }

    let held: [Stretch]
    let fork: Fork?
    let cut, floor: Place?

    func record(_ id: LogID, of device: DeviceID, lane: Lane) throws -> LogRecord {
        var log = LogRecord(
            number: LogNumber(1), space: SpaceNumber(1), id: id, device: device, lane: lane,
            spans: try held.map {
                Span(
                    first: $0.first, last: $0.last, anchor: try $0.before.identifier(),
                    tip: try $0.tip.identifier())
            })
        log.proven = try fork.map {
            LogPoint(sequence: $0.place, anchor: try $0.before.identifier())
        }
        log.limit = try cut.map { try point(after: $0, in: id) }
        log.floor = try floor.map { try point(after: $0, in: id) }
        return log
    }

    private func point(after last: Place, in id: LogID) throws -> LogPoint {
        guard let place = last.place, let operation = last.operation else {
            return LogPoint(sequence: 0, anchor: OperationID(reinterpreting: id))
        }
        return LogPoint(sequence: place + 1, anchor: try operation.identifier())
    }
}
