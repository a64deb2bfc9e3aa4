import Foundation
import Parley
import ParleyStorage
import ParleyTransport
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

/// A program that speaks HTTP by hand.
final class HTTPProgram: ConnectionHandler {
    /// What came back for one request.
    struct Response {
        var status: Int
        var fields: [String: String]
        var body: String

        /// The code of an error, of HTTP or of JSON-RPC.
        var code: String? {
            struct Body: Decodable {
                struct Reason: Decodable {
                    struct Details: Decodable { var code: String }
                    enum Keys: CodingKey { case code, data }
                    var code: String
                    init(from decoder: any Decoder) throws {
                        let container = try decoder.container(keyedBy: Keys.self)
                        if let data = try container.decodeIfPresent(Details.self, forKey: .data) {
                            code = data.code
                        } else {
                            code = try container.decode(String.self, forKey: .code)
                        }
                    }
                }
                var error: Reason
            }
            return try? JSONDecoder().decode(Body.self, from: Data(body.utf8)).error.code
        }
    }

    /// One for all: each has threads and descriptors of its own, and who looks at all of a process's
    /// descriptors to start another, as Foundation does, is not made for thousands.
    private static let transport = Transport(threadCount: 1)

    private let connection = Mutex<Connection?>(nil)
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let chunks: AsyncStream<[UInt8]>
    private let rest = Mutex<[UInt8]>([])

    private init() { (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self) }

    static func connect(_ address: LoopbackAddress) async throws -> HTTPProgram {
        let program = HTTPProgram()
        var limits = TransportLimits()
        limits.handshakeTimeMax = nil
        limits.idleTimeMax = nil
        try await transport.dial(
            Endpoint(host: address.host, port: address.port), limits: limits, handler: program)
        return program
    }

    func opened(_ connection: Connection) { self.connection.withLock { $0 = connection } }
    func received(_ bytes: [UInt8]) { continuation.yield(bytes) }
    func becameWritable() {}
    func closed(_ reason: CloseReason) { continuation.finish() }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { connection.withLock { $0 }?.send(bytes) }
    func pauseReading() { connection.withLock { $0 }?.pauseReading() }
    func resumeReading() { connection.withLock { $0 }?.resumeReading() }
    func close() { connection.withLock { $0 }?.close() }

    /// Waits until the other side has hung up; returns what it said before.
    func ended() async -> String {
        for await chunk in chunks { rest.withLock { $0 += chunk } }
        return rest.withLock { String(decoding: $0, as: UTF8.self) }
    }

    /// What comes up to this text and with it; nil where the other side hung up before.
    func text(through end: String) async -> String? {
        let sign = Array(end.utf8)
        while true {
            let found = rest.withLock { rest -> String? in
                guard let range = rest.firstRange(of: sign) else { return nil }
                defer { rest.removeSubrange(..<range.upperBound) }
                return String(decoding: rest[..<range.upperBound], as: UTF8.self)
            }
            if let found { return found }
            guard let chunk = await next() else { return nil }
            rest.withLock { $0 += chunk }
        }
    }

    /// The next response; nil where the other side hung up.
    func response() async throws -> Response? {
        guard let head = await text(through: "\r\n\r\n") else { return nil }
        let lines = head.components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...]
                .trimmingCharacters(in: .whitespaces)
        }
        let status = try #require(Int(lines[0].split(separator: " ").dropFirst().first ?? ""))
        let count = fields["content-length"].flatMap { Int($0) } ?? 0
        while rest.withLock({ $0.count }) < count {
            guard let chunk = await next() else { return nil }
            rest.withLock { $0 += chunk }
        }
        let body = rest.withLock { rest in
            defer { rest.removeFirst(count) }
            return String(decoding: rest[..<count], as: UTF8.self)
        }
        return Response(status: status, fields: fields, body: body)
    }

    private func next() async -> [UInt8]? {
        for await chunk in chunks { return chunk }
        return nil
    }
}

/// A server in front of a fake node, with tokens of its own.
final class Stand: Sendable {
    let node = FakeNode()
    let home: TemporaryHome
    let tokens: AccessTokens
    let sessions: PageSessions
    let server: HTTPServer

    init(
        _ node: (any NodeService)? = nil, hasPage: Bool = false, times: Times = Times()
    ) async throws {
        home = try TemporaryHome()
        tokens = AccessTokens(of: Home(home.path))
        sessions = PageSessions(of: Home(home.path))
        server = try await HTTPServer.start(
            node: node ?? self.node, tokens: tokens, page: hasPage ? sessions : nil,
            home: home.path, on: .usual, times: times)
    }

    /// A token that allows this.
    func token(
        _ scope: RequestScope, conversation: String? = nil, called name: String = "bot"
    ) throws -> String {
        try tokens.create(name, scope, conversation: conversation, at: 1).token
    }

    func connect() async throws -> HTTPProgram { try await .connect(server.address) }

    /// A request as most clients make it.
    func request(
        _ line: String, token: String? = nil, fields: [String] = [], body: String? = nil
    ) -> String {
        var lines = ["\(line) HTTP/1.1", "Host: \(server.address)"] + fields
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    /// The response to one request on a connection of its own.
    func ask(
        _ line: String, token: String? = nil, fields: [String] = [], body: String? = nil
    ) async throws -> HTTPProgram.Response {
        let program = try await connect()
        program.send(request(line, token: token, fields: fields, body: body))
        let response = try await program.response()
        program.close()
        return try #require(response)
    }

    /// The response to one JSON-RPC request.
    func call(
        _ method: String, _ parameters: String = "{}", token: String
    ) async throws -> HTTPProgram.Response {
        try await ask(
            "POST /rpc", token: token,
            body: #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#)
    }
}
