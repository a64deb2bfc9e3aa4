public import SwiftProtobuf

/// Protobuf at the boundary: payloads are decoded once on arrival and encoded once by their author.
/// Hashed bytes are kept verbatim, so protobuf need not have a canonical encoding.
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
