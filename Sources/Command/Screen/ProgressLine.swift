import Parley
import ParleyImporting
import Synchronization

/// One line that tells how far something is: written over on a terminal, else once a second.
final class ProgressLine: Sendable {
    private let start = ContinuousClock.now
    private let lastShown = Mutex<ContinuousClock.Instant?>(nil)
    private let pause: Duration?

    /// - Parameter pause: between two texts; nil for what suits the screen.
    init(pause: Duration? = nil) { self.pause = pause }

    /// Shows a text where it is time to: the closure is asked only then, and told for how long it
    /// has been going on.
    func show(_ text: (Duration) -> String) {
        let now = ContinuousClock.now
        let world = World.current
        let pause = pause ?? (world.talk.isTerminal ? .milliseconds(100) : .seconds(1))
        let isDue = lastShown.withLock { last in
            if now - (last ?? start) < pause { return false }
            last = now
            return true
        }
        guard isDue else { return }
        if world.talk.isTerminal {
            world.sayInPlace(text(now - start))
        } else {
            world.say(text(now - start))
        }
    }

    func end() {
        if World.current.talk.isTerminal, lastShown.withLock({ $0 != nil }) {
            World.current.sayInPlace("")
        }
    }
}

extension ImportProgress {
    /// Its state after this long.
    func text(after time: Duration) -> String {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = seconds > 0 ? Int(Double(linesRead) / seconds) : 0
        let percent = lineCount > 0 ? linesRead * 100 / lineCount : 100
        return "\(percent) %  file \(fileNumber) of \(fileCount)  "
            + "\(linesRead) lines  \(rate) lines/s  \(harmless(fileName))"
    }
}

extension SearchWork {
    /// Its progress.
    var text: String {
        switch step {
        case .removingVectors: "removing vectors: \(done) of \(count) operations"
        case .checkingVectors: "checking vectors: \(done) of \(count) operations"
        case .readingTexts: "reading texts: \(done) of \(count) operations"
        case .readingWords: "reading the index of words: \(done) of \(count) parts"
        case .comparing: "looking again at what differs: \(done) of \(count) operations"
        }
    }
}
