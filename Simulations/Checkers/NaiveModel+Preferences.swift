import ParleyPayloads
import ParleyRoster
import ParleyWire

extension NaiveModel {
    /// Of each key and topic the last word holds, unless it was ended by its name.
    ///
    /// Source: `Protocol/05-identity.md`, "Preferences".
    mutating func foldPreferences(_ acts: [Act]) {
        let acts = acts.filter { $0.lane == .shared && [38, 47].contains($0.kind) }
        var endings: [Named: [[UInt8]]] = [:]
        for act in acts {
            if let (name, value) = Self.preference(act), let ended = act.ended, value.isEmpty {
                endings[ended, default: []].append(name)
            }
        }
        for act in acts {
            guard let (name, value) = Self.preference(act) else {
                if act.kind == 47, let name = endings[act.named]?.first { preferences[name] = nil }
                continue
            }
            if act.kind == 47, !value.isEmpty { wordCounts[name, default: 0] += 1 }
            if value.isEmpty, act.ended != nil { continue }
            let isEnded = act.kind == 47 && endings[act.named]?.contains(name) == true
            preferences[name] = value.isEmpty || isEnded ? nil : value
        }
    }

    private static func preference(_ act: Act) -> (name: [UInt8], value: [UInt8])? {
        guard act.hasBody, let said = Payload.decode(PayloadPreference.self, act.payload),
            (1...65_535).contains(said.key), said.topic.count <= 256, said.value.count <= 2_048
        else { return nil }
        let key = [UInt8(said.key >> 8), UInt8(said.key & 255)]
        return (key + fieldBytes(said.topic), fieldBytes(said.value))
    }
}

extension NaiveModel.Act {
    /// The words that it ends, if it has none of its own.
    fileprivate var ended: NaiveModel.Named? { kind == 47 ? changed : nil }
}
