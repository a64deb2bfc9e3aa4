import Foundation
import Glibc
import Synchronization

/// The output for lines and its abilities: standard output, or standard error.
struct Screen: Sendable {
    /// Takes characters as they are, without a line's end.
    var put: @Sendable (String) -> Void
    /// Whether a person looks at it.
    var isTerminal = false
    /// How many columns it has; nil where lines may be of any length, as in a pipe of which nobody said
    /// how wide it is read.
    var columnCount: Int?
    /// Whether colours and weights of letters may be used.
    var hasColour = false
    /// Why something could not be written, as an `errno`; nil where all was.
    var failure: @Sendable () -> Int32? = { nil }
    /// Calls back once nobody reads the output any more; never if somebody always does.
    var whenReaderIsGone: @Sendable (_ body: @escaping @Sendable () -> Void) -> Void = { _ in }

    /// A file that this process was given.
    ///
    /// Source: no-color.org for `NO_COLOR`; terminfo(5) for `TERM`; environ(7) for `COLUMNS`.
    static func open(_ descriptor: Int32, environment: [String: String]) -> Screen {
        let isTerminal = isatty(descriptor) == 1
        let isColoured =
            (environment["NO_COLOR"] ?? "").isEmpty && (environment["TERM"] ?? "dumb") != "dumb"
        let failure = Failure()
        return Screen(
            put: { failure.write($0, to: descriptor) }, isTerminal: isTerminal,
            columnCount: columns(in: environment) ?? (isTerminal ? columns(of: descriptor) : nil),
            hasColour: isTerminal && isColoured, failure: { failure.code },
            whenReaderIsGone: { watch(descriptor, $0) })
    }

    /// A thread that waits: nothing is written while nothing happens, so no write tells of it.
    private static func watch(_ descriptor: Int32, _ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            // Of a pipe whose other end is closed, and of a terminal that hung up, poll(2) tells
            // without being asked.
            var poll = pollfd(fd: descriptor, events: 0, revents: 0)
            while Glibc.poll(&poll, 1, -1) < 0 {
                guard errno == EINTR else { return }
            }
            body()
        }
    }

    /// The text in a style, where the screen has any.
    func styled(_ text: String, _ style: Style) -> String {
        hasColour && !text.isEmpty ? "\u{1B}[\(style.code)m\(text)\u{1B}[0m" : text
    }

    /// Narrower than this nothing is drawn, whatever is asked for.
    private static let columnCountMin = 20

    /// Output that a person asked for, which counts in a pipe too.
    private static func columns(in environment: [String: String]) -> Int? {
        guard let count = environment["COLUMNS"].flatMap({ Int($0) }), count > 0 else { return nil }
        return max(columnCountMin, count)
    }

    private static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The first failure. Later output is dropped: half of an answer, with a gap in it, looks like
    /// a whole one.
    private final class Failure: Sendable {
        private let first = Mutex<Int32?>(nil)

        var code: Int32? { first.withLock { $0 } }

        func write(_ text: String, to descriptor: Int32) {
            first.withLock { first in
                guard first == nil else { return }
                var text = text
                text.withUTF8 { bytes in
                    var rest = UnsafeRawBufferPointer(bytes)[...]
                    while !rest.isEmpty {
                        let count = Glibc.write(
                            descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                            rest.count)
                        if count >= 0 {
                            rest = rest.dropFirst(count)
                        } else if errno == EAGAIN {
                            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                            _ = Glibc.poll(&poll, 1, -1)
                        } else if errno != EINTR {
                            first = errno
                            return
                        }
                    }
                }
            }
        }
    }
}

/// How something is highlighted, never the only sign of its meaning.
enum Style {
    /// Headings.
    case strong
    /// What the eye may pass over: numbers, times.
    case faint
    /// Something that went wrong.
    case alarm
    /// This person's name.
    case own
    /// A bar across the screen.
    case bar
    /// A name of another: the same name always in the same colour.
    case name(String)

    /// Colours that can be read on black and on white.
    private static let names = [32, 33, 34, 35, 36, 92, 94, 95]

    /// Source: ECMA-48, 8.3.117, Select Graphic Rendition.
    var code: String {
        switch self {
        case .strong: "1"
        case .faint: "2"
        case .alarm: "1;31"
        case .own: "1"
        case .bar: "7"
        case .name(let name):
            // FNV-1a: `Hasher` gives each process other numbers.
            String(
                Self.names[
                    Int(
                        name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
                            % UInt32(Self.names.count))])
        }
    }
}
