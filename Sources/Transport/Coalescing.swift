import NIOCore

/// Many small pieces become few buffers, and a big one becomes several, each copied once.
enum Coalescing {
    static func buffers(
        of pieces: [[UInt8]], by allocator: ByteBufferAllocator,
        byteCountMax: Int = ConnectionDriver.writeByteCountMax
    ) -> [ByteBuffer] {
        var left = pieces.reduce(0) { $0 + $1.count }
        var buffers: [ByteBuffer] = []
        var current = allocator.buffer(capacity: min(left, byteCountMax))
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                let part = rest.prefix(byteCountMax - current.readableBytes)
                current.writeBytes(part)
                left -= part.count
                rest = rest.dropFirst(part.count)
                if current.readableBytes == byteCountMax {
                    buffers.append(current)
                    current = allocator.buffer(capacity: min(left, byteCountMax))
                }
            }
        }
        if current.readableBytes > 0 { buffers.append(current) }
        return buffers
    }
}
