import ParleyNodeCore
import ParleySealing
import Synchronization

/// The new device that a page wants to link: it is waited for once the person has said so outside of the
/// page. A device is for good, and sees everything; a page that was found open, or taken over, must not
/// make one.
///
/// Kept in memory only, one at a time: the newest replaces the one before.
/// Source: `Protocol/14-local-api.md`, "The page".
final class LinkConsent: Sendable {
    /// How long a code can be confirmed, in milliseconds.
    static let timeMax: UInt64 = 300_000
    private static let digitCount = 6

    private struct Wish {
        /// What the page was told. Its text is there once it was confirmed.
        var view: DeviceLinkView
        /// On the clock that does not go back, in milliseconds.
        var end: UInt64
    }

    private let wish = Mutex<Wish?>(nil)
    private let now: @Sendable () -> (wall: UInt64, monotonic: UInt64)

    init(
        now: @escaping @Sendable () -> (wall: UInt64, monotonic: UInt64) = {
            (SystemClock.now.wall, SystemClock.now.monotonic)
        }
    ) { self.now = now }

    /// A code that the page shows its person.
    func ask() -> DeviceLinkView {
        var random = SystemRandom()
        let digits = (0..<Self.digitCount).map { _ in
            String(Int.random(in: 0...9, using: &random))
        }
        let (wall, monotonic) = now()
        let view = DeviceLinkView(
            text: "", expires: wall + Self.timeMax, code: digits.joined())
        wish.withLock { $0 = Wish(view: view, end: monotonic + Self.timeMax) }
        return view
    }

    /// What became of it.
    func link(_ code: String) throws -> DeviceLinkView {
        let now = now().monotonic
        return try wish.withLock { try Self.open($0, code, at: now).view }
    }

    /// The person confirms it: the device is waited for from now on.
    ///
    /// - Parameter begin: begins to wait, and returns what the device is shown.
    func confirm(_ code: String, _ begin: () throws -> DeviceLinkView) throws {
        let now = now().monotonic
        try wish.withLock { wish in
            var open = try Self.open(wish, code, at: now)
            // Confirmed once more it is the same.
            guard open.view.text.isEmpty else { return }
            let link = try begin()
            open.view = DeviceLinkView(text: link.text, expires: link.expires, code: code)
            open.end = now + Self.timeMax
            wish = open
        }
    }

    /// Nothing is wanted any more.
    func end() { wish.withLock { $0 = nil } }

    private static func open(_ wish: Wish?, _ code: String, at now: UInt64) throws -> Wish {
        guard let wish, now < wish.end, wish.view.code == code else {
            throw NodeError(
                "unknown-code", "The page does not ask to link a device with the code “\(code)”.",
                hint: "Begin anew in the page, under Devices: a code works for five minutes.")
        }
        return wish
    }
}
