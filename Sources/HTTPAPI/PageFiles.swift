internal import CPage
internal import HTTPTypes
internal import NIOCore

/// The files of the page, which are part of the program, and the headers for a browser.
enum PageFiles {
    /// The cookie with the secret of a session.
    static let cookieName = "parley-session"

    /// The field in which the page says its version, and the node that of the page that it has.
    static let versionName = "Parley-Page-Version"

    /// One of them.
    struct File: Sendable {
        let mediaType: String
        let body: ByteBuffer
        /// What changes with its bytes. Source: RFC 9110, section 8.8.3.
        let tag: String
        /// Whether other bytes have another path, so that nobody asks again for it.
        let isPermanent: Bool
    }

    /// The files as they are in the program, by their names there: `/app.js`, and `/` for the page itself.
    private static let sources: [(path: String, mediaType: String, bytes: [UInt8])] = {
        var files: [(path: String, mediaType: String, bytes: [UInt8])] = []
        for index in 0... {
            guard let file = parley_page_file_at(index)?.pointee else { break }
            files.append(
                (
                    String(cString: file.path), String(cString: file.type),
                    Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
                ))
        }
        return files
    }()

    /// The version of the page: other files have another one.
    static let version = tag(
        sources.sorted { $0.path < $1.path }.flatMap { Array($0.path.utf8) + [0] + $0.bytes + [0] })

    /// The path of a file in this version. What it imports and shows stands beside it, so that all that a page
    /// loads is of its own version.
    static func path(of name: String) -> String { "/v/\(version)\(name)" }

    /// The page itself, and the worker that keeps it: they have the same path in every version.
    static let constantPaths: Set = ["/", "/sw.js"]

    /// By their paths.
    static let all: [String: File] = {
        var files: [String: File] = [:]
        for (name, mediaType, bytes) in sources {
            let isPermanent = !constantPaths.contains(name)
            let bytes = completed(name, bytes)
            files[isPermanent ? path(of: name) : name] = File(
                mediaType: mediaType, body: ByteBuffer(bytes: bytes), tag: "\"\(tag(bytes))\"",
                isPermanent: isPermanent)
        }
        return files
    }()

    /// The page is told where the files of its version are, the worker which ones these are.
    private static func completed(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        switch name {
        case "/":
            let text = String(decoding: bytes, as: UTF8.self)
            return Array(text.replacing("=\"/", with: "=\"\(path(of: "/"))").utf8)
        case "/sw.js":
            let parts = sources.map(\.path).filter { !constantPaths.contains($0) }.sorted()
                .map { "\"\($0.dropFirst())\"" }.joined(separator: ", ")
            let head =
                "const version = \"\(version)\";\nconst parts = [\(parts)]"
                + ".map((each) => `/v/${version}/${each}`);\n"
            return Array(head.utf8) + bytes
        default: return bytes
        }
    }

    /// FNV-1a, of 64 bits: it tells versions apart, and protects nothing.
    private static func tag(_ bytes: [UInt8]) -> String {
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
        "require-trusted-types-for 'script'",
        // Registering a worker takes the word of a policy: the page has one, which says one address.
        "trusted-types parley-worker",
    ].joined(separator: "; ")

    /// The headers of every answer of the page's host.
    static func fields() -> HTTPFields {
        var fields: HTTPFields = [.contentSecurityPolicy: policy]
        for (name, value) in [
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Embedder-Policy", "require-corp"),
            ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
            (versionName, version),
            ("Permissions-Policy", "geolocation=(), payment=(), usb=(), serial=(), hid=()"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}
