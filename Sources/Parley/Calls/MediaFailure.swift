/// Why a program for sound and pictures could not continue.
enum MediaFailure: Error, Equatable, Sendable {
    /// None was named.
    case none
    /// It could not be started, for this reason.
    case notStarted(String)
    /// It ended with this status, or by a signal where that is negative; and its last words.
    case ended(status: Int32, lastWords: String)
    /// A line of more than ``MediaProcess/lineByteCountMax`` bytes.
    case lineTooLong
    /// Something that is not in the protocol.
    case malformed(String)
    /// More than ``MediaProcess/lineCountMax`` lines in a second.
    case tooMuch
    /// It does not read its input.
    case deaf
    /// It said so itself.
    case said(String)
    /// The client that had taken the call's sound and pictures is not there any more.
    case gone

    /// The text for a person.
    var sentence: String {
        switch self {
        case .none: "this device has no program for sound and pictures"
        case .notStarted(let reason):
            "the program for sound and pictures cannot be started: \(reason)"
        case .ended(let status, let lastWords):
            "the program for sound and pictures ended "
                + (status < 0 ? "by signal \(-status)" : "with status \(status)")
                + (lastWords.isEmpty ? "" : ": \(lastWords)")
        case .lineTooLong:
            "the program for sound and pictures wrote a line of more than "
                + "\(MediaProcess.lineByteCountMax) bytes"
        case .malformed(let what): "the program for sound and pictures wrote \(what)"
        case .tooMuch:
            "the program for sound and pictures wrote more than \(MediaProcess.lineCountMax) lines "
                + "in a second"
        case .deaf: "the program for sound and pictures does not read its input"
        case .said(let reason):
            "the program for sound and pictures failed"
                + (reason.isEmpty ? "" : ": \(reason)")
        case .gone: "the page or program that handled sound and pictures was closed"
        }
    }
}
