import Foundation
import ParleyWire

@testable import ParleySignalling

/// A machine's answer to every event in every state, as the protocol's page shows it.
enum Table {
    /// The rows of a file: `state | event | state after | what is to be done`.
    static func rows(_ name: String) throws -> [String] {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Protocol/Vectors/calls")
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    static func row(_ state: String, _ event: String, _ after: String, _ outputs: [String])
        -> String
    {
        let done = outputs.isEmpty ? "–" : outputs.joined(separator: ", ")
        return [state, event, after, done].joined(separator: " | ")
    }
}

/// Names that tests speak of. Devices order as their letters do: `a1` before `b1`.
enum Cast {
    static let space = SpaceID { $0[0] = 9 }
    static let call = CallID(Check(high: 5, low: 5))

    static func person(_ letter: Character) -> PersonID {
        PersonID { $0[0] = letter.asciiValue ?? 0 }
    }

    static func device(_ name: String) -> Participant {
        let letters = Array(name)
        let device = DeviceID {
            $0[0] = letters[0].asciiValue ?? 0
            $0[1] = letters[1].asciiValue ?? 0
        }
        return Participant(person: person(letters[0]), device: device)
    }

    static func name(_ device: DeviceID) -> String {
        String(decoding: device.bytes.prefix(2), as: UTF8.self)
    }

    static func name(_ person: PersonID) -> String {
        String(decoding: person.bytes.prefix(1), as: UTF8.self)
    }
}

extension LegSignal {
    var words: String {
        switch self {
        case .offer(let number, let startsAnew, _): "offer \(number)\(startsAnew ? " anew" : "")"
        case .answer(let number, _): "answer \(number)"
        case .candidate(let number, _): "candidate \(number)"
        case .renegotiate(let startsAnew): "renegotiate\(startsAnew ? " anew" : "")"
        }
    }
}

extension MediaOrder {
    var words: String {
        switch self {
        case .makeOffer(let startsAnew): "make offer\(startsAnew ? " anew" : "")"
        case .answer: "answer it"
        case .take: "take answer"
        case .add: "add way"
        case .close: "close"
        }
    }
}

extension Leg.Output {
    var words: String {
        switch self {
        case .media(let order): "program: \(order.words)"
        case .send(let signal): "say \(signal.words)"
        case .connected: "connected"
        case .failed: "failed"
        }
    }
}

extension CallSignal {
    var words: String {
        switch self {
        case .ring(_, let elapsed): "ring \(elapsed)"
        case .ringing: "ringing"
        case .join: "join"
        case .reject(let refusal): "reject \(refusal)"
        case .leave(let departure): "leave \(departure)"
        case .members(let devices): "members " + devices.map(Cast.name).joined(separator: " ")
        case .state(let media): "state \(media.rawValue)"
        case .leg(let signal): signal.words
        }
    }
}

extension CallEnd {
    var words: String {
        switch self {
        case .hungUpBy(let person): "hungUpBy \(Cast.name(person))"
        case .declinedBy(let person): "declinedBy \(Cast.name(person))"
        case .refusedBy(let person, let refusal): "refusedBy \(Cast.name(person)) \(refusal)"
        case .refused(let refusal): "refused \(refusal)"
        default: "\(self)"
        }
    }
}

extension Call.Output {
    var words: String {
        switch self {
        case .send(let signal, .everyone): "say \(signal.words) to all"
        case .send(let signal, .device(let device)): "say \(signal.words) to \(Cast.name(device))"
        case .ring: "ring"
        case .stopRinging(let end): "stop ringing\(end.map { " (\($0.words))" } ?? "")"
        case .media(let device, let order): "program \(Cast.name(device)): \(order.words)"
        case .established: "established"
        case .changed: "changed"
        case .ended(let end): "ended (\(end.words))"
        }
    }
}
