internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Parley
internal import Synchronization

/// Answers the page where there is no home yet: it shows the recovery code of a person who is not there,
/// and has a home made of it, or of what another device shows.
///
/// It knows nothing of anybody, and reads and writes nothing but that home. What it takes is bounded, and
/// taken from whoever has the link alone.
struct BeginDesk: Sendable {
    /// A body, at most: the text of another device has 16 KiB.
    static let bodyByteCountMax = 32 << 10

    /// What the page wants.
    private struct Wish: Decodable {
        /// `look`, `code`, `found` or `join`.
        var act: String
        /// By which others see the person.
        var name: String?
        /// How their recovery code ends.
        var last: String?
        /// What another device of theirs shows.
        var text: String?
        /// What this device is called.
        var device: String?
    }

    let door: BeginDoor
    let maker: HomeMaker
    /// Told once a home was made.
    let made: AsyncStream<Void>.Continuation
    /// The link into the page of the node, or why there is none.
    let result: BeginResult
    private let state = BeginState()

    init(
        door: BeginDoor, maker: HomeMaker, made: AsyncStream<Void>.Continuation,
        result: BeginResult
    ) {
        self.door = door
        self.maker = maker
        self.made = made
        self.result = result
    }

    /// Answers one request.
    func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let head = RequestHead(request.head)
        let answer: Desk.Answer
        do {
            answer = try await self.answer(request, head, channel)
        } catch {
            return try await Desk.write(Self.refusal(error), head, writer)
        }
        try await Desk.write(answer, writer)
    }

    private func answer(
        _ request: Request, _ head: RequestHead, _ channel: any Channel
    ) async throws -> Desk.Answer {
        let host = "\(door.host):\(channel.localAddress?.port ?? 0)"
        if let file = PageFiles.all[head.path] {
            try head.requireOwnPage(host)
            guard head.method == .get else { throw Refusal.wrongMethod([.get]) }
            return Desk.answer(file, head)
        }
        try head.requireNear([host])
        guard head.path == "/begin" else { throw Refusal.unknownPath }
        guard head.method == .post else { throw Refusal.wrongMethod([.post]) }
        guard head.isOfPage, !head.showsToken, let shown = head.beginSecret, door.opens(by: shown)
        else { throw Refusal.notBegun }
        let wish = try await Self.wish(request, head)
        switch wish.act {
        case "look":
            return try Self.answer(
                ["home": maker.home, "name": maker.name, "device": maker.device])
        case "code": return try Self.answer(["code": state.code.revealed()])
        case "found": return try await make(state.founding(wish.name, wish.last, by: maker))
        case "join":
            guard let text = wish.text else { throw Refusal.notAsked }
            return try await make { try await maker.join(text, wish.device ?? maker.device) }
        default: throw Refusal.notAsked
        }
    }

    /// Makes the home, and answers where its page is once the node runs.
    private func make(_ body: @Sendable () async throws -> Void) async throws -> Desk.Answer {
        guard state.begin() else { throw Refusal.isBeginning }
        do {
            try await body()
        } catch {
            // Nothing was left behind: it is tried again.
            state.end()
            throw error
        }
        made.yield()
        return try Self.answer(["link": try await result.link()])
    }

    private static func wish(_ request: Request, _ head: RequestHead) async throws -> Wish {
        guard head.byteCount ?? 0 <= bodyByteCountMax else { throw Refusal.tooLarge }
        var all = ByteBuffer()
        for try await part in request.body {
            guard all.readableBytes + part.readableBytes <= bodyByteCountMax else {
                throw Refusal.tooLarge
            }
            all.writeImmutableBuffer(part)
        }
        do {
            return try JSONDecoder().decode(Wish.self, from: Data(all.readableBytesView))
        } catch {
            throw Refusal.notAsked
        }
    }

    private static func answer(_ members: [String: String]) throws -> Desk.Answer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Desk.Answer(body: ByteBuffer(bytes: try encoder.encode(members)))
    }

    /// What the person can mend is told as such.
    private static func refusal(_ error: any Error) -> Refusal {
        if let reason = error as? NodeError { .unusable(reason) } else { Refusal(error) }
    }
}

/// The code that is shown, and whether a home is being made.
private final class BeginState: Sendable {
    let code = UnusedRecoveryCode()
    private let isBusy = Mutex(false)

    /// False where it is being done already, or was.
    func begin() -> Bool {
        isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
    }

    func end() { isBusy.withLock { $0 = false } }

    /// How a person is made, once they have shown that the code is before them.
    func founding(
        _ name: String?, _ last: String?, by maker: HomeMaker
    ) throws -> @Sendable () async throws -> Void {
        guard let name, let last else { throw Refusal.notAsked }
        guard code.ends(with: last) else {
            throw NodeError(
                "bad-code", "The recovery code ends otherwise.",
                hint: "Compare what you wrote down with what is shown.")
        }
        return { [code] in try await maker.found(name, code) }
    }
}
