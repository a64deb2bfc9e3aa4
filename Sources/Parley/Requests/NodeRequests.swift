/// Everything that can be asked of a node, besides to hear what changes.
public enum NodeRequests {
    /// All types of requests, sorted by their names.
    public static let all: [any NodeRequest.Type] = [
        CountImportedLines.self,
        DeleteMessage.self,
        EditMessage.self,
        ImportMessages.self,
        ReactToMessage.self,
        SendLines.self,
        SendMessages.self,
    ]
}
