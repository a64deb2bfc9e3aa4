/// Why a real run could not be carried out: this machine, or a tool of it, failed us. What nodes
/// do wrong is no failure of the run but its result.
public struct RealFailure: Error, Equatable, CustomStringConvertible {
    /// What happened, in a sentence.
    public let description: String

    /// A failure that this sentence describes.
    public init(_ description: String) { self.description = description }
}
