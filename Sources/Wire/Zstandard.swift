import CZstd

/// Compression of runs (RFC 8878). Level 1: on text it gains nearly what higher levels do, at a
/// speed that the disk behind it does not reach.
enum Zstandard {
    private static let level: Int32 = 1

    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { output, count in
            let size = ZSTD_compress(
                output.baseAddress, output.count, bytes, bytes.count, level)
            precondition(ZSTD_isError(size) == 0, "a buffer of the bound always suffices")
            count = size
        }
    }

    /// - Parameter byteCount: its announced expanded size. Output stops there.
    static func decompress(
        _ bytes: ArraySlice<UInt8>, byteCount: Int
    ) throws(DecodingFailure) -> [UInt8] {
        let opened = [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
            let size = bytes.withUnsafeBytes { input in
                ZSTD_decompress(output.baseAddress, output.count, input.baseAddress, input.count)
            }
            count = ZSTD_isError(size) == 0 ? size : 0
        }
        guard opened.count == byteCount, byteCount > 0 else {
            throw .forbidden(field: "compressed run")
        }
        return opened
    }
}
