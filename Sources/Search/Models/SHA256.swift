import CKernels
import Foundation

/// SHA-256, by which packages and files are told.
public enum SHA256 {
    /// The hash of some bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var state = ck_sha256_state()
        ck_sha256_init(&state)
        ck_sha256_update(&state, bytes, bytes.count)
        return finish(&state)
    }

    /// The hash of some bytes in hex.
    public static func hexHash(_ bytes: [UInt8]) -> String { hex(hash(bytes)) }

    /// The hash of a file in hex; nil where it cannot be read.
    public static func hash(file path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        // Whatever is not closed here is closed with the handle.
        defer { try? file.close() }
        var state = ck_sha256_state()
        ck_sha256_init(&state)
        do {
            while let part = try file.read(upToCount: 1 << 20), !part.isEmpty {
                part.withUnsafeBytes { bytes in
                    ck_sha256_update(
                        &state, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
                }
            }
        } catch {
            return nil
        }
        return hex(finish(&state))
    }

    private static func hex(_ digest: [UInt8]) -> String {
        digest.map { String(format: "%02x", $0) }.joined()
    }

    private static func finish(_ state: inout ck_sha256_state) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        ck_sha256_final(&state, &digest)
        return digest
    }
}
