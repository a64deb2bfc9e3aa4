/// Scalars of a note that were inserted by events of which each follows the one before, and that stand
/// side by side: a run of what the walk merges.
struct Item {
    /// The number of the first of them.
    var first: Int
    var length: Int
    /// The event that inserted the first; ties are broken by it.
    var event = 0
    /// The scalar that stood left of the first one when it was inserted; nil for the beginning.
    var left: Int?
    /// The scalar that stood right of it, if that one had the same left; nil otherwise.
    var right: Int?
    /// Where the walk is: -1 not inserted yet, 0 there, above how often it was deleted.
    var state = 0
    /// Whether anybody has deleted it, at the end of the walk.
    var isDeleted = false
    fileprivate(set) var leaf = 0

    /// The number after that of the last of them.
    var end: Int { first + length }
    var isInserted: Bool { state >= 0 }
    var isPresent: Bool { state == 0 }
}

/// How many scalars are in a part of the tree: those that are inserted where the walk is, deleted or not, those
/// that are there, and those that are there in the end.
struct ItemWidth {
    var inserted = 0
    var present = 0
    var shown = 0

    static func += (one: inout ItemWidth, other: ItemWidth) {
        one.inserted += other.inserted
        one.present += other.present
        one.shown += other.shown
    }

    static func - (one: ItemWidth, other: ItemWidth) -> ItemWidth {
        ItemWidth(
            inserted: one.inserted - other.inserted, present: one.present - other.present,
            shown: one.shown - other.shown)
    }
}

extension Item {
    var width: ItemWidth {
        ItemWidth(
            inserted: isInserted ? length : 0, present: isPresent ? length : 0,
            shown: isDeleted ? 0 : length)
    }
}

/// Items in their order: a B+ tree that finds places by how many scalars stand before them.
///
/// Nodes lie in arrays and are named by their index. Items never move in memory: a leaf holds their
/// numbers, and each knows its leaf.
struct ItemTree {
    private static let fanOut = 32

    /// A place between items: before the item at `slot` of a leaf, or at its end.
    struct Place: Equatable {
        var leaf: Int
        var slot: Int
    }

    private struct Node {
        var parent = -1
        var isLeaf = true
        /// Items of a leaf, nodes of a branch.
        var children: [Int] = []
        var width = ItemWidth()
    }

    private(set) var items: [Item] = []
    private var nodes: [Node] = [Node()]
    private var root = 0

    /// How many scalars there are where the walk is.
    var presentCount: Int { nodes[root].width.present }

    /// The place before all items.
    var start: Place {
        var node = root
        while !nodes[node].isLeaf { node = nodes[node].children[0] }
        return Place(leaf: node, slot: 0)
    }

    subscript(item: Int) -> Item { items[item] }

    // MARK: Finding

    /// The item that holds the scalar at a position where the walk is, with how far into it that is and
    /// how many scalars stand before the item in the end; nil where there are not so many.
    func find(present position: Int) -> (item: Int, offset: Int, shown: Int)? {
        guard position >= 0, position < nodes[root].width.present else { return nil }
        var (node, left, shown) = (root, position, 0)
        while !nodes[node].isLeaf {
            for child in nodes[node].children {
                if left < nodes[child].width.present {
                    node = child
                    break
                }
                left -= nodes[child].width.present
                shown += nodes[child].width.shown
            }
        }
        for item in nodes[node].children {
            let width = items[item].width
            if left < width.present { return (item, left, shown) }
            left -= width.present
            shown += width.shown
        }
        preconditionFailure("widths of nodes are those of what is below them")
    }

    /// The first item at or behind a place that is inserted where the walk is, deleted or not.
    func inserted(from place: Place) -> Int? {
        for item in nodes[place.leaf].children[place.slot...] where items[item].isInserted {
            return item
        }
        var node = place.leaf
        while nodes[node].parent >= 0 {
            let parent = nodes[node].parent
            let behind = nodes[parent].children.drop { $0 != node }.dropFirst()
            for sibling in behind where nodes[sibling].width.inserted > 0 {
                return firstInserted(below: sibling)
            }
            node = parent
        }
        return nil
    }

    private func firstInserted(below node: Int) -> Int? {
        var node = node
        while !nodes[node].isLeaf {
            guard let child = nodes[node].children.first(where: { nodes[$0].width.inserted > 0 })
            else { return nil }
            node = child
        }
        return nodes[node].children.first { items[$0].isInserted }
    }

    func place(of item: Int) -> Place {
        let leaf = items[item].leaf
        guard let slot = nodes[leaf].children.firstIndex(of: item) else {
            preconditionFailure("an item is in its leaf")
        }
        return Place(leaf: leaf, slot: slot)
    }

    /// How many scalars stand before an item in the end.
    func shownIndex(of item: Int) -> Int {
        let place = place(of: item)
        var index = 0
        for other in nodes[place.leaf].children[..<place.slot] { index += items[other].width.shown }
        var node = place.leaf
        while nodes[node].parent >= 0 {
            let parent = nodes[node].parent
            for sibling in nodes[parent].children {
                if sibling == node { break }
                index += nodes[sibling].width.shown
            }
            node = parent
        }
        return index
    }

    // MARK: Changing

    /// Puts an item in at a place. Returns its number.
    mutating func insert(_ item: Item, at place: Place) -> Int {
        let number = items.count
        items.append(item)
        items[number].leaf = place.leaf
        nodes[place.leaf].children.insert(number, at: place.slot)
        widen(place.leaf, by: item.width)
        if nodes[place.leaf].children.count > Self.fanOut { divide(place.leaf) }
        return number
    }

    /// Divides an item. Returns the number of the part from `offset` on.
    mutating func divide(_ item: Int, at offset: Int) -> Int {
        var tail = items[item]
        tail.first += offset
        tail.event += offset
        tail.length -= offset
        tail.left = tail.first - 1
        tail.right = nil
        widen(items[item].leaf, by: ItemWidth() - tail.width)
        items[item].length = offset
        var place = place(of: item)
        place.slot += 1
        return insert(tail, at: place)
    }

    /// Changes the state of an item.
    mutating func update(_ item: Int, _ change: (inout Item) -> Void) {
        let before = items[item].width
        change(&items[item])
        widen(items[item].leaf, by: items[item].width - before)
    }

    private mutating func widen(_ leaf: Int, by width: ItemWidth) {
        var node = leaf
        while node >= 0 {
            nodes[node].width += width
            node = nodes[node].parent
        }
    }

    /// Moves the second half of a node into a new one beside it.
    private mutating func divide(_ node: Int) {
        let half = nodes[node].children.count / 2
        let new = nodes.count
        var sibling = Node(isLeaf: nodes[node].isLeaf)
        sibling.children = Array(nodes[node].children[half...])
        nodes[node].children.removeSubrange(half...)
        for child in sibling.children {
            if sibling.isLeaf {
                items[child].leaf = new
                sibling.width += items[child].width
            } else {
                nodes[child].parent = new
                sibling.width += nodes[child].width
            }
        }
        nodes.append(sibling)
        if nodes[node].parent < 0 {
            var top = Node(isLeaf: false)
            top.children = [node]
            top.width = nodes[node].width
            root = nodes.count
            nodes.append(top)
            nodes[node].parent = root
        }
        let parent = nodes[node].parent
        nodes[node].width = nodes[node].width - sibling.width
        nodes[new].parent = parent
        guard let slot = nodes[parent].children.firstIndex(of: node) else {
            preconditionFailure("a node is in its parent")
        }
        nodes[parent].children.insert(new, at: slot + 1)
        if nodes[parent].children.count > Self.fanOut { divide(parent) }
    }
}
