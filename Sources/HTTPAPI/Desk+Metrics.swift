internal import NIOCore
internal import Parley

/// The state of the node, for monitoring. It contains no name and no text.
extension Desk {
    func metrics(_ grant: TokenGrant) async throws -> Answer {
        // It covers all conversations, if only by number.
        try grant.check(GetStatus.self)
        let status = try await node.perform(GetStatus())
        let outbox = try await node.perform(ListOutbox())
        var metrics = Metrics()
        metrics.add(
            info: "parley_build", "The program.", [("version", Node.version)])
        Self.addStore(status, to: &metrics)
        Self.addTraffic(status, to: &metrics)
        metrics.add(
            "parley_outbox", .gauge, "What no device of another person has, by where it is stored.",
            by: "state",
            [
                "saved": outbox.reduce(0) { $0 + $1.savedCount },
                "relayed": outbox.reduce(0) { $0 + $1.relayedCount },
                "change": outbox.reduce(0) { $0 + $1.changeCount },
                "kept": outbox.reduce(0) { $0 + $1.keptCount },
            ])
        metrics.add(
            "parley_http_connections", .gauge, "Open HTTP connections.",
            gate.connectionCount)
        metrics.add(
            "parley_http_turned_away", .counter,
            "HTTP connections that were refused for lack of space.",
            gate.refusedCount)
        metrics.add(
            "parley_event_streams", .gauge, "Open streams of events.", gate.streamCount)
        return Answer(mediaType: Metrics.mediaType, body: ByteBuffer(string: metrics.text))
    }

    private static func addStore(_ status: NodeStatus, to metrics: inout Metrics) {
        metrics.add(
            "parley_conversations", .gauge, "Conversations held.", status.conversationCount)
        metrics.add("parley_operations", .gauge, "Operations held.", status.operationCount)
        metrics.add(
            "parley_database_bytes", .gauge, "The database on the disk.", status.databaseByteCount)
        metrics.add(
            "parley_disk_full", .gauge, "Whether the disk had no space for what came last.",
            status.isDiskFull ? 1 : 0)
        metrics.add(
            "parley_read_only", .gauge, "Whether the node only reads.",
            status.readOnlyReason == nil ? 0 : 1)
        metrics.add(
            "parley_pending_messages", .gauge, "Own messages that no other person's device has.",
            status.pendingCount)
        metrics.add(
            "parley_stranded_messages", .gauge, "Own messages that nobody accepts.",
            status.strandedCount)
        metrics.add(
            "parley_wanted_files", .gauge, "Files that are wanted and not complete here.",
            status.files.wantedCount)
        metrics.add(
            "parley_wanted_file_bytes", .gauge, "Bytes of them that are missing here.",
            status.files.wantedByteCount)
        metrics.add(
            "parley_warnings", .gauge, "Warnings for the person.", status.warnings.count)
    }

    private static func addTraffic(_ status: NodeStatus, to metrics: inout Metrics) {
        metrics.add("parley_links", .gauge, "Connections to other devices.", status.links.count)
        metrics.add(
            "parley_offline", .gauge, "Whether the node is offline.", status.isOffline ? 1 : 0)
        metrics.add(
            "parley_catching_up", .gauge, "Whether something that others hold is being fetched.",
            status.isCatchingUp ? 1 : 0)
        metrics.add(
            "parley_link_sent_bytes", .counter,
            "Bytes sent to other devices since the node was started.",
            status.sentByteCount)
        metrics.add(
            "parley_link_received_bytes", .counter,
            "Bytes received from other devices since the node was started.",
            status.receivedByteCount)
        metrics.add(
            "parley_refusals", .counter, "What was refused, by reason.", by: "reason",
            status.refusals)
    }
}
