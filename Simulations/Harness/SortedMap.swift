/// A map that is always in the order of its keys, as a table with a key is.
///
/// Most keys arrive at the end, where inserting costs nothing; elsewhere it moves what follows.
struct SortedMap<Key: Comparable, Value> {
    /// The keys, ascending.
    private(set) var keys: [Key] = []
    private(set) var values: [Value] = []

    var count: Int { keys.count }

    /// The first place whose key is not below this one.
    func lowerBound(_ key: Key) -> Int {
        if let last = keys.last, last < key { return keys.count }
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    subscript(key: Key) -> Value? {
        get {
            let place = lowerBound(key)
            return place < keys.count && keys[place] == key ? values[place] : nil
        }
        set {
            let place = lowerBound(key)
            let isHeld = place < keys.count && keys[place] == key
            switch (isHeld, newValue) {
            case (true, let value?):
                values[place] = value
            case (true, nil):
                keys.remove(at: place)
                values.remove(at: place)
            case (false, let value?):
                keys.insert(key, at: place)
                values.insert(value, at: place)
            case (false, nil):
                break
            }
        }
    }
}

/// Bytes that order as they do in a table: by byte, and the shorter first.
struct ByteKey: Comparable, Hashable {
    let bytes: [UInt8]

    static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
