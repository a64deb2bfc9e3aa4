/// A call over D-Bus, as bytes.
///
/// Source: D-Bus Specification 0.42, "Message Format" and "Marshaling (Wire Format)".
struct BusMessage {
    var path = "/org/freedesktop/Notifications"
    var interface = "org.freedesktop.Notifications"
    var destination = "org.freedesktop.Notifications"
    let member: String
    let serial: UInt32
    var signature = ""
    var body = BusWriter()

    init(member: String, serial: UInt32) { (self.member, self.serial) = (member, serial) }

    /// Source: Desktop Notifications Specification 1.2, `Notify`.
    static func notify(title: String, body: String, isUrgent: Bool, serial: UInt32) -> BusMessage {
        var message = BusMessage(member: "Notify", serial: serial)
        message.signature = "susssasa{sv}i"
        message.body.string("Parley")
        message.body.number(0)
        message.body.string("")
        message.body.string(plain(title))
        // Servers may read a body as markup.
        message.body.string(
            plain(body).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;"))
        message.body.array(alignment: 4) { _ in }
        message.body.array(alignment: 8) { hints in
            hints.align(8)
            hints.string("urgency")
            hints.signature("y")
            hints.bytes.append(isUrgent ? 2 : 1)
            hints.align(8)
            hints.string("category")
            hints.signature("s")
            hints.string("im.received")
        }
        // The server decides for how long.
        message.body.number(UInt32(bitPattern: -1))
        return message
    }

    /// A string of the bus has no zero in it; what moves a cursor does not belong on a screen either.
    private static func plain(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { harmless(String($0)) }.joined(separator: "\n")
    }

    var bytes: [UInt8] {
        var writer = BusWriter()
        // Little endian, a call, no flags, version 1.
        writer.bytes = [UInt8(ascii: "l"), 1, 0, 1]
        writer.number(UInt32(body.bytes.count))
        writer.number(serial)
        writer.array(alignment: 8) { fields in
            let texts: [(UInt8, String, String)] = [
                (1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", destination),
            ]
            for (code, kind, text) in texts {
                fields.align(8)
                fields.bytes.append(code)
                fields.signature(kind)
                fields.string(text)
            }
            if !signature.isEmpty {
                fields.align(8)
                fields.bytes.append(8)
                fields.signature("g")
                fields.signature(signature)
            }
        }
        writer.align(8)
        return writer.bytes + body.bytes
    }
}

/// Values as they stand in a message, each at a multiple of its size.
struct BusWriter {
    var bytes: [UInt8] = []

    mutating func align(_ size: Int) {
        bytes += Array(repeating: 0, count: (size - bytes.count % size) % size)
    }

    mutating func number(_ value: UInt32) {
        align(4)
        bytes += withUnsafeBytes(of: value.littleEndian, Array.init)
    }

    mutating func string(_ text: String) {
        number(UInt32(text.utf8.count))
        bytes += Array(text.utf8) + [0]
    }

    mutating func signature(_ text: String) {
        bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0]
    }

    /// An array: its length does not count the gap before its first element.
    mutating func array(alignment: Int, _ body: (inout BusWriter) -> Void) {
        number(0)
        let place = bytes.count - 4
        align(alignment)
        let start = bytes.count
        body(&self)
        let count = UInt32(bytes.count - start)
        bytes.replaceSubrange(
            place..<place + 4, with: withUnsafeBytes(of: count.littleEndian, Array.init))
    }
}
