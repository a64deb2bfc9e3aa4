import Foundation
import Glibc
import Logging
import Synchronization

/// How much is logged.
enum LogLevel {
    /// Names of levels, the gravest first.
    static let names = ["error", "warning", "notice", "info", "debug"]

    static func level(_ name: String) -> Logger.Level { Logger.Level(rawValue: name) ?? .notice }

    /// The priority of a level. Source: syslog(3).
    static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// Where a node that runs logs: standard error, as the journal reads it where that listens.
///
/// Nothing that a person wrote, and no name, is ever logged: the library logs codes, counts and
/// technical reasons, and this program's text about people goes only to a terminal.
struct ServiceLog: LogHandler {
    /// Who makes one looks up here what holds now.
    private static let current = Mutex<Logger.Level>(.notice)

    /// Whether lines go to the journal, which reads the priority in front of each.
    let isJournal: Bool
    private let put: @Sendable (String) -> Void

    var metadata = Logger.Metadata()
    /// One level holds for all, and changes while the node runs.
    var logLevel: Logger.Level {
        get { Self.current.withLock { $0 } }
        set { Self.setLevel(newValue) }
    }

    init(isJournal: Bool, put: @escaping @Sendable (String) -> Void) {
        self.isJournal = isJournal
        self.put = put
    }

    static func setLevel(_ level: Logger.Level) { current.withLock { $0 = level } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        let details = facts.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        put(line("\(event.message)" + details.joined(), event.level))
    }

    /// One line, whatever its content.
    func line(_ text: String, _ level: Logger.Level) -> String {
        let shown = harmless(text)
        return isJournal
            ? "<\(LogLevel.priority(of: level))>\(shown)\n" : "\(level): \(shown)\n"
    }

    /// Whether a descriptor is the very one that the journal handed over: it may be redirected since.
    ///
    /// Source: systemd.exec(5), `$JOURNAL_STREAM`.
    static func isJournal(_ descriptor: Int32, environment: [String: String]) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"] else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
