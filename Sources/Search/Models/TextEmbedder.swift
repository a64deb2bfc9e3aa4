/// Turns texts into vectors of length 1: what means about the same points about the same way.
///
/// One value serves one worker at a time; its weights may be shared by many.
public protocol TextEmbedder: AnyObject {
    /// Numbers of one vector.
    var dimension: Int { get }
    /// A vector for each text, in their order.
    func embed(_ texts: [String]) -> [[Float]]
}

/// Vectors as they are kept: a number is a byte, in steps of `limit / 127`.
public enum VectorBytes {
    /// Numbers beyond this are cut off; hardly one in a thousand is.
    public static let limit: Float = 0.18

    /// The vector in bytes.
    public static func pack(_ vector: [Float]) -> [UInt8] {
        vector.map { number in
            let step = (min(max(number, -limit), limit) * 127 / limit).rounded()
            return UInt8(bitPattern: Int8(step))
        }
    }

    /// What a dot product of packed numbers is of the numbers themselves.
    static let productScale = limit / 127 * (limit / 127)
}
