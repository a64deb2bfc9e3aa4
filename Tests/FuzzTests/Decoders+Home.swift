import ParleyImporting
import ParleyLedger
import ParleyNodeCore
import ParleyWire

@testable import Parley

extension Decoder {
    /// Files that a person may be handed by somebody else.
    static let home: [Decoder] = [
        Decoder(
            name: "item of a backup", sources: ["Sources/Parley/BackupItem.swift": 2],
            inputs: { backupItems() }, decode: { backupItem($0) }),
        Decoder(
            name: "lines of a log to import", sources: [:], hasOneSpelling: false,
            inputs: {
                [
                    Array("[10:01] <ada> hello\n[10:02]  * ada waves\n=== ada has quit\n".utf8),
                    [0x5b, 0x31, 0x30, 0x3a, 0x30, 0x31, 0x5d, 0x20, 0x3c, 0xe4, 0x3e, 0x20, 0xfc],
                ]
            },
            decode: { imported($0) ? $0 : nil }),
    ]

    private static func imported(_ bytes: [UInt8]) -> Bool {
        guard let day = CalendarDay("2004-12-25") else { return false }
        var log = IRCLog(day: day)
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            _ = log.read(line)
        }
        return true
    }

    private static func backupItems() -> [[UInt8]] {
        let about = BackupAbout(
            device: DeviceID { $0[0] = 1 }, time: 9, identity: [[1, 2, 3], [4]])
        let items: [BackupItem] = [
            .about(about), .value(table: .card, key: [1, 2], value: [3, 4, 5]),
            .space(SpaceID { $0[0] = 2 }, .group), .frame([1, 2, 3]),
            .end(spaceCount: 3, operationCount: 500),
        ]
        return items.map(\.encoded)
    }

    private static func backupItem(_ bytes: [UInt8]) -> [UInt8]? {
        let head = Array(bytes.prefix(BackupItem.headByteCount))
        guard let count = try? BackupItem.bodyByteCount(head: head),
            bytes.count == BackupItem.headByteCount + count, let kind = head.first
        else { return nil }
        let body = Array(bytes.dropFirst(BackupItem.headByteCount))
        return (try? BackupItem(kind: kind, body: body))?.encoded
    }
}
