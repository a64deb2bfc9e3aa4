import ParleyNodeCore
import ParleySealing
import ParleyWire

/// What lets a browser in where there is no home yet: one link, which leads to nothing once there is.
///
/// In memory only. The host name is drawn anew each time, so that what a browser keeps of it is of nobody.
/// Source: `Protocol/14-local-api.md`, "Where there is no home yet".
public struct BeginDoor: Sendable {
    private static let secretByteCount = 32

    /// The host name, without a port: a label of 80 random bits below `localhost`.
    public let host: String
    private let secret: String
    private let kept: Digest

    /// A fresh one.
    public init() {
        var random = SystemRandom()
        let bytes = random.bytes(Self.secretByteCount)
        host = "b" + hex(random.bytes(10)) + ".localhost"
        secret = hex(bytes)
        kept = digest(.pageSession, bytes)
    }

    /// The whole address, of which a browser sends what stands behind the `#` to nobody by itself.
    public func link(port: UInt16) -> String { "http://\(host):\(port)/#begin=\(secret)" }

    /// Whether this is what the link said.
    public func opens(by shown: String) -> Bool {
        guard shown.utf8.count == 2 * Self.secretByteCount, let bytes = bytes(hex: shown[...])
        else { return false }
        return equalInConstantTime(digest(.pageSession, bytes), kept)
    }
}

/// The recovery code of a person who is not there yet: whoever wants to become one writes it down first.
/// Nothing is kept of it before.
public struct UnusedRecoveryCode: Sendable {
    let code: RecoveryCode

    /// A fresh one.
    public init() {
        var random = SystemRandom()
        code = RecoveryCode.generate(using: &random)
    }

    /// How it is written down.
    public func revealed() -> String { code.revealed() }

    /// Whether these are the last characters of it, as a person types them who has it before them.
    public func ends(with typed: String) -> Bool {
        let wanted = revealed().suffix(Self.checkedCount)
        let letters = typed.uppercased().filter { $0.isLetter || $0.isNumber }
        // As a whole code is read: O is zero, I and L are one.
        return letters.replacing("O", with: "0").replacing("I", with: "1")
            .replacing("L", with: "1") == wanted
    }

    /// So many characters are typed: the last group.
    public static let checkedCount = 4
}
