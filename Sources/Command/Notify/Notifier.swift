import Dispatch
import Foundation
import Parley
import Synchronization

/// Tells its person what happens at a node that runs.
final class Notifier: Sendable {
    /// The present settings.
    private struct Settings {
        var gate: NoticeGate
        var content: Notice.Content
        var command: [String]
        var secondsMax: Int
        var usesDesktop: Bool
    }

    private let settings: Mutex<Settings>
    private let hook: NoticeHook
    private let desktop: DesktopBus?
    /// The desktop is notified beside everything else, one after the other.
    private let queue = DispatchQueue(label: "notices")
    private let waitingCount = Mutex(0)
    /// Notices that wait for a desktop that does not answer, at most.
    private static let waitingCountMax = 16

    init(_ configuration: Configuration, environment: [String: String]) {
        settings = Mutex(Self.settings(configuration, gate: nil))
        hook = NoticeHook(environment: environment)
        desktop = DesktopBus(environment)
    }

    /// Applies the present settings.
    func reload(_ configuration: Configuration) {
        settings.withLock { $0 = Self.settings(configuration, gate: $0.gate) }
    }

    private static func settings(_ configuration: Configuration, gate: NoticeGate?) -> Settings {
        let rules = NoticeGate.Rules(
            mentionsOnly: configuration.isOn("notify.mentions-only"),
            quietHours: QuietHours(configuration.text("notify.quiet-hours")),
            calls: NoticeGate.Calls(rawValue: configuration.text("notify.calls"))
                ?? .outsideQuietHours,
            perMinute: configuration.number("notify.per-minute"))
        var gate = gate ?? NoticeGate(rules)
        gate.rules = rules
        return Settings(
            gate: gate,
            content: Notice.Content(rawValue: configuration.text("notify.content")) ?? .all,
            command: configuration.strings("notify.command"),
            secondsMax: configuration.number("notify.time-limit"),
            usesDesktop: configuration.isOn("notify.desktop"))
    }

    /// Reports changes from now on, until it is cancelled.
    func follow(_ node: any NodeService) async throws {
        let changes = try await node.changes()
        var reader = try await NoticeReader(node)
        for await change in changes {
            // One of which nothing can be known, as of a conversation that was deleted since, is passed over.
            guard let notices = try? await reader.notices(of: change) else { continue }
            for notice in notices { tell(notice) }
        }
    }

    /// Reports one event, if its person wants to know.
    private func tell(_ notice: Notice) {
        let seconds = Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000_000)
        let time = Calendar.current.dateComponents([.hour, .minute], from: Date())
        let minute = (time.hour ?? 0) * 60 + (time.minute ?? 0)
        let (settings, notices) = settings.withLock { settings in
            let notices = settings.gate.pass(notice, at: seconds, minuteOfDay: minute)
            return (settings, notices)
        }
        for notice in notices {
            hook.run(
                settings.command, facts: notice.facts(settings.content),
                within: settings.secondsMax)
            if settings.usesDesktop { show(notice, settings.content) }
        }
    }

    private func show(_ notice: Notice, _ content: Notice.Content) {
        guard let desktop, notice.event != .callEnded else { return }
        let isFree = waitingCount.withLock { count in
            guard count < Self.waitingCountMax else { return false }
            count += 1
            return true
        }
        guard isFree else { return }
        queue.async { [self] in
            // A desktop that shows nothing is no fault of the node's.
            try? desktop.show(
                title: notice.title(content), body: notice.body(content),
                isUrgent: notice.event == .call)
            waitingCount.withLock { $0 -= 1 }
        }
    }
}
