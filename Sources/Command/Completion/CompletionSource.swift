/// What the values of an argument are, so that they can be offered.
enum CompletionSource: Equatable {
    /// Files, or folders alone: the shell offers them itself.
    case files, folders
    /// A closed list.
    case words([String])
    /// Names that the node knows.
    case names(NameKind)
    /// Something that only the person knows.
    case nothing

    /// The kind of an argument: from its declaration, else from the name of its value.
    init(_ argument: ArgumentForm) {
        if argument.completionKind?.file != nil {
            self = .files
        } else if argument.completionKind?.directory != nil {
            self = .folders
        } else if let values = argument.allValues, !values.isEmpty {
            self = .words(values)
        } else {
            self = Self.byValueName[argument.valueName ?? ""] ?? .nothing
        }
    }

    /// By the name of a value: one word means the same in all commands.
    private static let byValueName: [String: CompletionSource] = [
        "conversation": .names(.conversation), "group": .names(.group),
        "person": .names(.person), "members": .names(.person), "member": .names(.person),
        "profile": .names(.home),
        "device": .names(.device), "relay": .names(.relay),
        "item": .names(.item), "poll": .names(.poll), "note": .names(.note),
        "decision": .names(.decision), "successor": .names(.decision),
        "reminder": .names(.reminder), "scheduled": .names(.scheduled), "invite": .names(.invite),
        "subject": .names(.anything), "into": .names(.conversation),
        "key": .words(ConfigKey.all.map(\.name)),
        "shell": .words(CompletionScript.shells),
        "file": .files, "files": .files, "folder": .folders, "path": .files,
        "state": .words(["proposed", "accepted", "rejected", "superseded", "untaken"]),
        "presence": .words(["online", "away", "offline"]),
        "media": .words(["microphone", "camera", "screen"]),
        "log": .files, "html": .files, "out": .files, "save": .folders, "haystack": .files,
    ]
}

/// A kind of thing that has a name or a number on this node.
enum NameKind: String, Equatable, CaseIterable {
    case conversation, group, person, device, relay, item, poll, note, decision, reminder
    case scheduled, invite
    /// Homes on this machine.
    case home
    /// Messages apart, whatever `why` explains.
    case anything
}
