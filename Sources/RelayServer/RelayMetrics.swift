import Foundation
import ParleyRelaying
import ParleyTransport
import Synchronization

/// The relay's figures in the text format of Prometheus. Counts only: none identifies anybody.
struct RelayMetrics: Sendable {
    let engine: RelayEngine
    let transport: Transport
    let rejections: Rejections

    var text: String {
        let state = engine.snapshot
        let counters = state.counters
        let wire = transport.counters
        var page = Page()
        page.add("connections", "gauge", "Connected clients.", state.load.connections)
        page.add(
            "subscriptions", "gauge",
            "Mailboxes to which clients are subscribed.", state.load.subscriptions)
        page.add("open_pipes", "gauge", "Pipes that are open or offered.", state.load.pipes)
        page.add(
            "stored_bytes", "gauge", "Bytes of stored envelopes.", Int(state.storedByteCount))
        page.add(
            "unpaid_bytes", "gauge", "Bytes of envelopes in mailboxes without a ticket.",
            Int(state.unpaidByteCount))
        page.add(
            "shelf_bytes", "gauge",
            "Bytes of those in mailboxes for files.", Int(state.shelfByteCount))
        page.add(
            "unsent_bytes", "gauge", "Bytes that wait for clients.", state.unsentByteCount)
        page.add("connections_total", "counter", "Handshakes.", counters.connections)
        page.add("requests_total", "counter", "Requests.", by: "action", counters.requests)
        page.add("refusals_total", "counter", "Refused requests.", by: "reason", counters.refusals)
        page.add("envelopes_total", "counter", "Envelopes stored.", counters.envelopes)
        page.add(
            "envelope_bytes_total", "counter",
            "Bytes of envelopes stored.", counters.envelopeBytes)
        page.add(
            "repeats_total", "counter",
            "Envelopes that were already stored.", counters.repeats)
        page.add("pushes_total", "counter", "Frames sent to subscribers.", counters.pushes)
        page.add("missed_total", "counter", "Frames that slow subscribers missed.", counters.missed)
        page.add("pipes_total", "counter", "Pipes that were opened.", counters.pipes)
        page.add("pipe_bytes_total", "counter", "Bytes through pipes.", counters.pipeBytes)
        let closings = Dictionary(
            uniqueKeysWithValues: counters.closings.map { ($0.key.rawValue, $0.value) })
        page.add(
            "closings_total", "counter",
            "Connections closed by a rule.", by: "reason", closings)
        page.add(
            "rejections_total", "counter", "Connections closed after a fault.", by: "reason",
            rejections.all)
        page.add("commits_total", "counter", "Batches that were stored.", state.batches)
        page.add(
            "store_failures_total", "counter",
            "Batches that could not be stored.", state.storeFailures)
        page.add("received_bytes_total", "counter", "Bytes from clients.", wire.bytesReceived)
        page.add("sent_bytes_total", "counter", "Bytes to clients.", wire.bytesSent)
        page.add(
            "refused_connections_total", "counter", "Connections that were refused.",
            wire.tooManyConnections + wire.tooManyUnauthenticated + wire.handshakeRate)
        return page.text
    }

    private struct Page {
        var text = ""

        mutating func add(
            _ name: String, _ type: String, _ help: String, _ value: some BinaryInteger
        ) {
            begin(name, type, help)
            text += "parley_relay_\(name) \(value)\n"
        }

        mutating func add(
            _ name: String, _ type: String, _ help: String, by label: String,
            _ values: [String: UInt64]
        ) {
            begin(name, type, help)
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                text += "parley_relay_\(name){\(label)=\"\(key)\"} \(value)\n"
            }
        }

        private mutating func begin(_ name: String, _ type: String, _ help: String) {
            text += "# HELP parley_relay_\(name) \(help)\n# TYPE parley_relay_\(name) \(type)\n"
        }
    }
}

/// Serves the figures to clients on this machine: the minimum of HTTP that a scraper needs.
final class MetricsHandler: ConnectionHandler {
    /// A request is no longer than this.
    private static let requestByteCountMax = 8192

    private let metrics: RelayMetrics
    private let state = Mutex<(connection: Connection?, request: [UInt8])>((nil, []))

    init(_ metrics: RelayMetrics) { self.metrics = metrics }

    func opened(_ connection: Connection) { state.withLock { $0.connection = connection } }

    func received(_ bytes: [UInt8]) {
        let (connection, request) = state.withLock { state in
            state.request += bytes
            return (state.connection, state.request)
        }
        guard let connection else { return }
        let text = String(decoding: request, as: UTF8.self)
        guard text.contains("\r\n\r\n") else {
            if request.count > Self.requestByteCountMax { connection.abort() }
            return
        }
        let isWanted = text.hasPrefix("GET /metrics ") || text.hasPrefix("GET / ")
        let body = isWanted ? metrics.text : ""
        connection.send(
            Array(
                """
                HTTP/1.1 \(isWanted ? "200 OK" : "404 Not Found")\r
                Content-Type: text/plain; version=0.0.4\r
                Content-Length: \(body.utf8.count)\r
                Connection: close\r
                \r
                \(body)
                """.utf8))
        connection.close()
    }

    func becameWritable() {}

    func closed(_ reason: CloseReason) { state.withLock { $0.connection = nil } }
}
