import Foundation
import Parley

extension NodeError {
    /// Whether a running node ended before it answered: it may have done what it was asked.
    var isLoss: Bool { code == "connection-lost" }
}

extension World {
    /// A node is asked again so often.
    private static let askedAgainCountMax = 2

    /// Provides what answers for a home, to send something once: a running node that stops before it answers
    /// may have saved it or not. Then whichever node is there next is asked for the same, or the home
    /// itself, under the same key: it writes nothing that is written already.
    ///
    /// - Parameters:
    ///   - key: the name of this attempt.
    ///   - body: sends it under the key that it is given.
    func lendOnce<R: Sendable>(
        _ place: HomeOptions, key: String = UUID().uuidString,
        _ body: (_ node: any NodeService, _ once: String) async throws -> R
    ) async throws -> R {
        var lostCount = 0
        while true {
            var isAsked = false
            do {
                return try await lend(place) { access in
                    isAsked = true
                    return try await body(access.node, key)
                }
            } catch let error as NodeError
                where error.isLoss && lostCount < Self.askedAgainCountMax
            {
                lostCount += 1
            } catch let error as NodeError
                where error.isLoss || lostCount > 0 && !isAsked
            {
                // A refusal by a node that was asked again is the truth: nothing was written.
                throw Self.uncertain(error)
            }
        }
    }

    private static func uncertain(_ error: NodeError) -> NodeError {
        NodeError(
            error.code,
            "The running node stopped before it said whether the message is saved, and nothing "
                + "else says so now: \(error.message)",
            hint: "Before you send it again, look with `parley read` whether it is there.")
    }
}
