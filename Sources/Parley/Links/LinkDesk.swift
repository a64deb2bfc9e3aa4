import Dispatch
import Foundation
import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization

/// Makes previews of links for messages that are about to be written, away from the node's own thread.
final class LinkDesk: Sendable {
    /// Previews that wait for their message, at most: the oldest goes first.
    private static let waitingCountMax = 16

    private struct State {
        var previews: [String: LinkPreview] = [:]
        var order: Queue<String> = []
    }

    private let queue = DispatchQueue(label: "parley.links", qos: .utility)
    private let state = Mutex(State())

    /// The preview made under a ticket; nil if there is none.
    func preview(_ ticket: String) -> LinkPreview? { state.withLock { $0.previews[ticket] } }

    /// A preview went, or is not to go.
    func drop(_ ticket: String) {
        state.withLock { state in
            state.previews[ticket] = nil
            state.order.removeAll { $0 == ticket }
        }
    }

    /// Makes a preview of the first address in a text, and keeps it under a ticket.
    func make(
        of text: String, by fetcher: LinkFetcher = LinkFetcher()
    ) async throws -> (ticket: String, preview: LinkPreview) {
        guard let address = LinkPreview.addresses(in: text).first else {
            throw NodeError("no-link", "That text has no address of a web page.")
        }
        let preview = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try Self.look(at: address, by: fetcher) })
            }
        }
        var random = SystemRandom()
        let ticket = hex((0..<8).map { _ in UInt8.random(in: 0...255, using: &random) })
        state.withLock { state in
            state.previews[ticket] = preview
            state.order.append(ticket)
            if state.order.count > Self.waitingCountMax, let oldest = state.order.popFirst() {
                state.previews[oldest] = nil
            }
        }
        return (ticket, preview)
    }

    /// A page's description of itself, with its picture if it has one. It blocks.
    static func look(at text: String, by fetcher: LinkFetcher) throws -> LinkPreview {
        let end = ContinuousClock.now + LinkFetcher.time
        do {
            let found = try fetcher.fetch(
                LinkAddress(text), ["text/html", "application/xhtml+xml"],
                atMost: LinkFetcher.pageByteCountMax, isWhole: false, until: end)
            guard let page = LinkPage(found.bytes) else { throw LinkFailure.nothingSaid }
            var preview = LinkPreview(
                address: text, title: page.title, description: page.description, site: page.site)
            if let picture = page.picture {
                // A page without its picture is worth showing, and why it did not come is nothing to know.
                let made = try? self.picture(
                    found.address.resolving(picture), by: fetcher, until: end)
                preview.picture = made ?? []
            }
            return preview
        } catch let failure as LinkFailure {
            throw NodeError(failure, text)
        }
    }

    private static func picture(
        _ address: LinkAddress, by fetcher: LinkFetcher, until end: ContinuousClock.Instant
    ) throws -> [UInt8] {
        let found = try fetcher.fetch(
            address, ["image/jpeg", "image/png", "image/webp", "image/gif"],
            atMost: LinkFetcher.pictureByteCountMax, isWhole: true, until: end)
        // Its type is determined here, not by the server.
        let type = FileKind.type(of: found.bytes)
        guard type.hasPrefix("image/") else { return [] }
        return try PreviewMaker(folders: fetcher.folders).preview(
            of: MemoryFile(found.bytes), type, duration: 0, atMost: Limits.previewByteCountMax
        ).bytes
    }
}

/// Whether links got previews on this device, as earlier versions stored it on each separately.
struct FormerLinkSettings: Decodable {
    static let key = Array("links".utf8)

    private var isOn: Bool

    /// What was set here, until it is recorded for all devices; nil if nothing was.
    static func isOn(in store: SQLiteStore) throws -> Bool? {
        try store.value(.profile, key).map { bytes in
            // What cannot be read may have been meant to have no page fetched.
            let settings = try? JSONDecoder().decode(FormerLinkSettings.self, from: Data(bytes))
            return settings?.isOn ?? false
        }
    }
}

extension Views {
    /// Whether messages get previews of links without being told: off until the person says so, on
    /// whichever of their devices.
    func makesLinkPreviews() throws -> Bool {
        try linkPreviewsSaid() ?? FormerLinkSettings.isOn(in: store) ?? false
    }

    /// The same as it was said for all devices; nil if it was not.
    func linkPreviewsSaid() throws -> Bool? {
        guard let own = core.ownSpace else { return nil }
        return try NodeCore.makesLinkPreviews(ownSpace: own.number, in: store)
    }
}

extension NodeError {
    /// The text for a person about a link without a preview.
    init(_ failure: LinkFailure, _ address: String) {
        let hint = "The message can be sent without a preview."
        let why: String
        switch failure {
        case .badAddress: why = "different programs could read that address differently"
        case .notPublic:
            why = "it leads to this machine or into its network, or is not on port 80 or 443"
        case .noSuchName: why = "its name is not known"
        case .noProgram: why = "curl is not installed"
        case .unreachable: why = "it did not answer in time"
        case .tooManyRedirects: why = "it redirects more than \(LinkFetcher.redirectCountMax) times"
        case .notTaken: why = "it is not a web page"
        case .nothingSaid: why = "the page has no title"
        }
        self.init("no-link-preview", "No preview of \(address): \(why).", hint: hint)
    }
}
