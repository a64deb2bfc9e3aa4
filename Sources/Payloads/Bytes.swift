public import Foundation

// Protobuf's bytes come as Foundation's `Data`. These two turn them, so that the rooms that read
// payloads need not know Foundation.

/// The bytes of a field.
public func fieldBytes(_ data: Data) -> [UInt8] { Array(data) }

/// A field of these bytes.
public func field(_ bytes: [UInt8]) -> Data { Data(bytes) }
