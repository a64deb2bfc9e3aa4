import ParleyLedger
import ParleySealing
import ParleyWire

/// Persons and devices that marks are about, each with a local number: their names are sealed.
struct Actors {
    private(set) var numbers: [Digest: Int64] = [:]
    /// In the order of their numbers, from 1.
    private(set) var names: [Digest] = []
    private var countBefore = 0

    func name(_ number: Int64) -> Digest? {
        number >= 1 && number <= Int64(names.count) ? names[Int(number) - 1] : nil
    }

    mutating func add(_ name: Digest) {
        names.append(name)
        numbers[name] = Int64(names.count)
    }

    mutating func committed() { countBefore = names.count }

    mutating func rolledBack() {
        while names.count > countBefore { numbers[names.removeLast()] = nil }
    }
}

extension SQLiteStore {
    func loadActors() throws(StoreError) {
        let statement = try connection.prepare("SELECT number, content FROM actor ORDER BY number")
        while try statement.step("reading actors") {
            let number = statement.integer(0)
            guard let name = Digest(try unseal(statement.bytes(1), .actorContent, row: number)),
                number == Int64(actors.names.count) + 1
            else { throw Self.damaged("reading actors") }
            actors.add(name)
        }
        actors.committed()
    }

    /// The number of an actor, new ones included.
    func number(of actor: Digest) throws(StoreError) -> Int64 {
        if let number = actors.numbers[actor] { return number }
        let number = Int64(actors.names.count) + 1
        let statement = statements.insertActor
        statement.bind(1, number)
        statement.bind(2, copying: try seal(actor.bytes, .actorContent, row: number))
        try statement.run("storing an actor")
        actors.add(actor)
        return number
    }
}
