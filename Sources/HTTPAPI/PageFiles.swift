internal import CPage
internal import HTTPTypes
internal import NIOCore

/// The files of the page, which are part of the program, and the headers for a browser.
enum PageFiles {
    /// The cookie with the secret of a session.
    static let cookieName = "parley-session"

    /// One of them.
    struct File: Sendable {
        let mediaType: String
        let body: ByteBuffer
        /// What changes with its bytes. Source: RFC 9110, section 8.8.3.
        let tag: String
    }

    /// By their paths.
    static let all: [String: File] = {
        var files: [String: File] = [:]
        for index in 0... {
            guard let file = parley_page_file_at(index)?.pointee else { break }
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
            files[String(cString: file.path)] = File(
                mediaType: String(cString: file.type), body: ByteBuffer(bytes: bytes),
                tag: "\"\(tag(bytes))\"")
        }
        return files
    }()

    /// FNV-1a, of 64 bits: it tells versions apart, and protects nothing.
    private static func tag(_ bytes: some Sequence<UInt8>) -> String {
        let sum = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return String(sum, radix: 16)
    }

    /// What a browser may load, and from where, once it shows the page: scripts and styles only as
    /// files of this server, nothing from anybody else, and no text ever as a script. Nobody frames
    /// it. Source: W3C, "Content Security Policy Level 3" and "Trusted Types".
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:",
        "media-src 'self' blob:", "connect-src 'self'", "worker-src 'self'", "manifest-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The headers of every answer of the page's host.
    static func fields() -> HTTPFields {
        var fields: HTTPFields = [.contentSecurityPolicy: policy]
        for (name, value) in [
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Embedder-Policy", "require-corp"),
            ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
            ("Permissions-Policy", "geolocation=(), payment=(), usb=(), serial=(), hid=()"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}
