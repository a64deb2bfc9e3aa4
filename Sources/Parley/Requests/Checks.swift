import ParleyStorage

/// Checks everything that is stored: the database, chains, signatures, keys, views against the log,
/// the search indexes. Changes nothing, and continues behind damage.
public struct CheckStore: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "doctor", RequestScope.read,
        "Checks everything that is stored: the database, chains, signatures, keys, views against "
            + "the log, the search indexes, files."
    )
    /// An example of the request.
    public static let example = CheckStore()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> DoctorReport {
        var report = try await node.running.examine()
        let search = await node.compareIndexes()
        report.add("Words and vectors of the search match the messages.", isDamage: false) {
            search
        }
        let models = await node.checkModels()
        report.add("Every model is as it was installed.", isDamage: false) { models }
        let files = await node.compareFiles()
        report.add("Every file matches its hash.", isDamage: false) { files.outcome }
        // Where that cannot be told, others may have it.
        let isAlone = (try? await node.running.read { try $0.isAlone() }) ?? false
        report.advise(isAlone: isAlone)
        report.advice += files.sentences
        for old in node.home.asides {
            report.advice.append(
                "\(old) is the database from before a repair: what was deleted since is still in it. "
                    + "It is removed \(Home.asideDayMax) days after the repair; remove it now if "
                    + "nothing is missing.")
        }
        return report
    }
}

/// What repairs of the database lost and has not come back since: lists are incomplete without it.
public struct ListLosses: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "losses", RequestScope.read,
        "What repairs of the database lost and what has not come back since: lists of it are "
            + "incomplete."
    )
    /// An example of the request.
    public static let example = ListLosses()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> LossesView {
        try await node.read { views in
            let losses = try views.lostByRepairs()
            return LossesView(
                losses: losses,
                areSettingsLost: try !losses.isEmpty && views.hasRepairLostSettings())
        }
    }
}

/// What repairs of the database lost and has not come back since.
public struct LossesView: Codable, Equatable, Sendable {
    /// By conversation.
    public var losses: [DoctorReport.Loss]
    /// Whether something is among it that only the own devices know, as who the contacts are.
    public var areSettingsLost: Bool
}
