public import Parley

/// What makes a home where there is none yet.
public struct HomeMaker: Sendable {
    /// The folder that the home is to be in.
    public var home: String
    /// The name that is offered to the person, and what this device is called; they may be empty.
    public var name: String, device: String
    /// Makes a home of a new person with this name and this recovery code.
    public var found: @Sendable (_ name: String, _ code: UnusedRecoveryCode) async throws -> Void
    /// Makes this a further device of the person whose other device shows this text.
    public var join: @Sendable (_ text: String, _ device: String) async throws -> Void

    /// All of it.
    public init(
        home: String, name: String, device: String,
        found:
            @escaping @Sendable (_ name: String, _ code: UnusedRecoveryCode) async throws ->
            Void,
        join: @escaping @Sendable (_ text: String, _ device: String) async throws -> Void
    ) {
        self.home = home
        self.name = name
        self.device = device
        self.found = found
        self.join = join
    }
}

/// Serves the page where there is no home yet, until one was made.
///
/// Source: `Protocol/14-local-api.md`, "Where there is no home yet".
public final class BeginServer: Sendable {
    /// What a person opens in their browser.
    public let link: String
    private let listener: HTTPListener
    private let news: AsyncStream<Void>
    private let result: BeginResult

    /// Listens on any free port of this machine.
    public static func start(_ maker: HomeMaker) async throws -> BeginServer {
        let door = BeginDoor()
        let (news, made) = AsyncStream.makeStream(of: Void.self)
        let result = BeginResult()
        let desk = BeginDesk(door: door, maker: maker, made: made, result: result)
        let listener = try await HTTPListener.start(
            on: .usual, gate: Gate(), times: Times(),
            respond: { request, writer, channel in
                try await desk.respond(request, writer, channel)
            })
        return BeginServer(
            link: door.link(port: listener.address.port), listener: listener, news: news,
            result: result)
    }

    private init(
        link: String, listener: HTTPListener, news: AsyncStream<Void>, result: BeginResult
    ) {
        self.link = link
        self.listener = listener
        self.news = news
        self.result = result
    }

    /// Waits until a home was made; false where the task was cancelled before.
    public func isMade() async -> Bool {
        for await _ in news { return true }
        return false
    }

    /// Leads the browser in which the home was made to the page of its node, and ends.
    public func lead(to link: String) async {
        result.end(.success(link))
        await listener.stop()
    }

    /// Tells that browser why there is no page, and ends.
    public func fail(_ reason: NodeError) async {
        result.end(.failure(reason))
        await listener.stop()
    }

    /// Ends it.
    public func stop() async { await fail(NodeError("stopped", "It was stopped.")) }
}

/// What comes of it, which is known once.
final class BeginResult: Sendable {
    private let news: AsyncStream<Result<String, NodeError>>
    private let teller: AsyncStream<Result<String, NodeError>>.Continuation

    init() { (news, teller) = AsyncStream.makeStream() }

    func end(_ result: Result<String, NodeError>) {
        teller.yield(result)
        teller.finish()
    }

    /// Waits for it: one request alone does.
    func link() async throws -> String {
        for await result in news { return try result.get() }
        throw NodeError("stopped", "It was stopped.")
    }
}
