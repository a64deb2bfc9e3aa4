internal import Foundation
internal import Glibc
internal import NIOCore
public import Parley

/// Answers programs of this machine over HTTP for a node, until it is stopped.
public final class HTTPServer: Sendable {
    /// Where it listens, with the port that it got.
    public var address: LoopbackAddress { listener.address }
    private let listener: HTTPListener
    private let page: PageSessions?
    private let addressFile: String

    /// Listens, and says where in a file in the home.
    ///
    /// - Throws: ``NodeError`` where somebody else listens there.
    ///
    /// - Parameters:
    ///   - page: the browser sessions; nil for no page.
    ///   - completeHint: adds to advised commands which home they are about.
    public static func start(
        node: any NodeService, tokens: AccessTokens, page: PageSessions? = nil, home: String,
        on wanted: LoopbackAddress, completeHint: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> HTTPServer {
        try await start(
            node: node, tokens: tokens, page: page, home: home, on: wanted, times: Times(),
            completeHint: completeHint)
    }

    /// The same, with other patience.
    static func start(
        node: any NodeService, tokens: AccessTokens, page: PageSessions? = nil, home: String,
        on wanted: LoopbackAddress, times: Times,
        completeHint: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> HTTPServer {
        let door = try page.map { PageDoor(sessions: $0, host: try $0.host()) }
        let gate = Gate()
        let uploads = Uploads(node: node, home: home, times: times)
        let desk = Desk(
            node: node, tokens: tokens, page: door, gate: gate, uploads: uploads, host: wanted,
            completeHint: completeHint)
        let listener = try await HTTPListener.start(
            on: wanted, gate: gate, times: times,
            whenReady: { address in
                try writeAddress(address, to: HTTPAPI.addressPath(home: home))
                try page?.begin(port: address.port)
            },
            respond: { request, writer, channel in
                try await desk.respond(request, writer, channel)
            })
        sweep(uploads, desk, on: listener.loop, every: TimeAmount(times.sweep))
        return HTTPServer(
            listener: listener, page: page, addressFile: HTTPAPI.addressPath(home: home))
    }

    private init(listener: HTTPListener, page: PageSessions?, addressFile: String) {
        self.listener = listener
        self.page = page
        self.addressFile = addressFile
    }

    /// How many connections are open.
    var connectionCount: Int { listener.gate.connectionCount }

    /// How many streams of events are open.
    var streamCount: Int { listener.gate.streamCount }

    /// Removes the file, lets nobody in any more, lets answers leave, and hangs up.
    public func stop() async {
        unlink(addressFile)
        page?.end()
        await listener.stop()
    }

    /// Looks again and again for files that came in and are over, until the loop ends.
    private static func sweep(
        _ uploads: Uploads, _ desk: Desk, on loop: any EventLoop, every time: TimeAmount
    ) {
        loop.scheduleRepeatedAsyncTask(initialDelay: time, delay: time) { _ in
            loop.makeFutureWithTask {
                await uploads.dropOver { desk.keeper(of: $0).isAlive($0) }
            }
        }
    }

    /// A file of mode 0600 that is complete whenever it exists.
    private static func writeAddress(_ address: LoopbackAddress, to path: String) throws {
        let fresh = path + ".new"
        unlink(fresh)
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { Glibc.close(descriptor) }
        let bytes = Array("\(address)\n".utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, rename(fresh, path) == 0 else {
            let failure = failure(path)
            unlink(fresh)
            throw failure
        }
    }

    private static func failure(_ path: String) -> NodeError {
        NodeError("no-http", "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
}
