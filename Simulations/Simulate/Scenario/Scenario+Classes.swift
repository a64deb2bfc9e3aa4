extension Scenario {
    /// What kind of world it is: the names of the classes that it belongs to, in one order.
    ///
    /// A swarm counts them: a class that no seed drew was not tried.
    public var classes: [String] { classification.filter(\.isOne).map(\.name) }

    /// The names of all classes.
    static let allClasses = drawn(seed: 0).classification.map(\.name)

    private var classification: [(name: String, isOne: Bool)] {
        let acts = phases.flatMap { $0.actions ?? [] }
        let faults = phases.compactMap(\.faults)
        func has(_ rate: (Faults) -> UInt64?) -> Bool { faults.contains { rate($0) != nil } }
        return [
            ("relays", relays != nil), ("relays alone", relaysOnly == true),
            ("relay troubles", has(\.relays)),
            (
                "relays that lie",
                faults.contains { $0.relayTroubles?.contains(.wrongDays) == true }
            ), ("sqlite", store == .sqlite),
            ("liars", nodes.contains { $0.malicious?.isEmpty == false }),
            (
                "foreign edits",
                nodes.contains { $0.malicious?.contains(.editOthers) == true }
            ),
            (
                "foreign pins",
                nodes.contains { $0.malicious?.contains(.pinAnyway) == true }
            ), ("thieves", acts.contains { $0.do == .steal }),
            ("devices", workload.devicesPerHour != nil),
            ("talk", workload.talkPerMinute != nil),
            ("curation", workload.curationPerMinute != nil),
            ("teamwork", workload.teamworkPerMinute != nil),
            ("files", workload.filesPerHour != nil),
            ("comings and goings", workload.mix == Mix.membership),
            ("strangers", acquaintance != .everyone),
            ("rest", phases.contains { $0.isBusy == false }), ("any order", isChaotic == true),
            ("wrong clocks", nodes.contains { $0.clock != nil }),
            ("slow ways", links.between?.values.contains { $0.bytesPerSecond != nil } == true),
            ("crashes", has(\.crashes)), ("power losses", has(\.powerLosses)),
            ("store failures", has(\.storeFailures)), ("rot", has(\.rot)),
            ("clock jumps", has(\.clockJumps)), ("restores", has(\.restores)),
            ("partitions", has(\.partitions)),
            ("one way", faults.contains { $0.oneWay == true }), ("resets", has(\.resets)),
            ("stalls", has(\.stalls)), ("flips", has(\.flips)),
            ("slow disks", has(\.diskDelayMs)),
            ("homecomings", acts.contains { $0.do.readsAll }),
            ("ranks lost apart", acts.contains { $0.do.makesAdmin }),
            ("late guests", acts.contains { $0.do.invitesBriefly }),
            ("polls closed apart", acts.contains { $0.do.closesPoll }),
            ("links used apart", acts.contains { $0.do.joinsThroughAnother }),
            ("ranks apart", acts.contains { $0.do.makesReader }),
        ]
    }
}
