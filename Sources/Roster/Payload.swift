public import SwiftProtobuf

/// Protobuf at the door: payloads are read once on entry and written once by their author. What
/// was hashed is kept verbatim, so that protobuf need not have one encoding.
public enum Payload {
    /// The message's bytes.
    ///
    /// Cannot fail for our messages: the library throws only for required fields, which proto3
    /// does not have, and above 2 GiB.
    public static func encode(_ message: some Message) -> [UInt8] {
        do {
            return try message.serializedBytes()
        } catch {
            preconditionFailure("a proto3 message always encodes: \(error)")
        }
    }

    /// The message that these bytes are, or nil: then the operation has no effect, here and
    /// everywhere.
    public static func decode<M: Message>(_ type: M.Type, _ bytes: [UInt8]) -> M? {
        // Why it failed does not matter: the operation is opaque either way.
        try? M(serializedBytes: bytes)
    }
}
