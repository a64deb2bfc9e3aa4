internal import Foundation
internal import Parley

/// The identifier of a request, by which its answer is matched.
enum RequestID: Codable, Hashable, Sendable {
    case number(Int64)
    case text(String)
    case none

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
            return
        }
        // What is not a number must be a text, and then that failure is thrown.
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .none: try container.encodeNil()
        }
    }
}

/// The name of a member of a JSON object.
struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// A line as it came, its shape checked and its parameters not yet read.
struct Request: Decodable {
    let id: RequestID?
    let method: String
    let arguments: Arguments

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        let known = ["jsonrpc", "id", "method", "params"]
        if let stranger = container.allKeys.map(\.stringValue).filter({ !known.contains($0) }).min()
        {
            throw Failure.invalidRequest("a request has no member \"\(stranger.prefix(64))\"")
        }
        guard try container.decode(String.self, forKey: Name("jsonrpc")) == "2.0" else {
            throw Failure.invalidRequest("\"jsonrpc\" must be \"2.0\"")
        }
        id = container.contains(Name("id")) ? try container.decode(RequestID.self, "id") : nil
        method = try container.decode(String.self, forKey: Name("method"))
        let parameters = Name("params")
        arguments =
            container.contains(parameters)
            ? Arguments(
                container: try container.nestedContainer(keyedBy: Name.self, forKey: parameters),
                decoder: try container.superDecoder(forKey: parameters))
            : Arguments(container: nil, decoder: nil)
    }
}

extension Request {
    /// The request that these bytes are.
    init(bytes: [UInt8]) throws(Failure) {
        do {
            self = try JSONDecoder().decode(Request.self, from: Data(bytes))
        } catch {
            throw Failure(decoding: error)
        }
    }
}

extension Failure {
    /// Why something is no request.
    init(decoding error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case DecodingError.dataCorrupted: self = .parse
        default:
            self = .invalidRequest(
                "a request has \"jsonrpc\", \"id\", \"method\" and \"params\"")
        }
    }
}

extension KeyedDecodingContainer<Name> {
    fileprivate func decode<T: Decodable>(_ type: T.Type, _ name: String) throws -> T {
        try decode(type, forKey: Name(name))
    }
}

/// The parameters of a request, read by name.
struct Arguments {
    fileprivate let container: KeyedDecodingContainer<Name>?
    fileprivate let decoder: (any Decoder)?

    /// The present names, sorted.
    var names: [String] { container?.allKeys.map(\.stringValue).sorted() ?? [] }

    /// All of them as one value.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        do {
            guard let decoder else { return try JSONDecoder().decode(type, from: Data("{}".utf8)) }
            return try T(from: decoder)
        } catch let error as DecodingError {
            throw Failure.invalidParameters(sentence(on: error))
        } catch let error as NodeError {
            throw error
        } catch let failure as Failure {
            throw failure
        } catch {
            // Half of a surrogate pair is a failure of the decoder that has no public name.
            throw Failure.invalidParameters("the parameters have the wrong type")
        }
    }

    /// Which parameter is wrong, and how: the first part of the path below that of all parameters.
    private func sentence(on error: DecodingError) -> String {
        let depth = decoder?.codingPath.count ?? 0
        switch error {
        case .keyNotFound(let key, let context) where context.codingPath.count == depth:
            return "parameter \"\(key.stringValue)\" is missing"
        case .keyNotFound(_, let context), .valueNotFound(_, let context),
            .typeMismatch(_, let context), .dataCorrupted(let context):
            guard let name = context.codingPath.dropFirst(depth).first?.stringValue else {
                return "the parameters have the wrong type"
            }
            return "parameter \"\(name)\" has the wrong type"
        @unknown default:
            return "the parameters have the wrong type"
        }
    }
}
