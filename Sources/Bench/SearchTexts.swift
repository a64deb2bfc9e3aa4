import Foundation

/// Texts for the figures about searching: what people wrote, where a folder of it is given, from
/// the beginning again where it ends; else words of a made-up language.
struct SearchTexts {
    private let real: [String]
    private var place = 0
    private var stream = WordStream()

    /// - Parameter real: what people wrote.
    init(_ real: [String]) { self.real = real }

    /// What they are, as a note.
    var note: String {
        real.isEmpty
            ? "made-up messages of 120 bytes"
            : "messages of people (\(real.count) of them, again and again)"
    }

    mutating func next() -> String {
        guard !real.isEmpty else { return stream.text(120) }
        defer { place += 1 }
        return real[place % real.count]
    }

    /// Words that stand in them, some frequent, some rare.
    mutating func words(_ count: Int) -> [String] {
        var random: UInt64 = 88_172_645_463_325_252
        var found: [String] = []
        while found.count < count {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let text =
                real.isEmpty ? stream.text(24) : real[Int(random >> 33) % real.count]
            let words = text.split { !$0.isLetter }.filter { $0.count > 2 }
            guard !words.isEmpty else { continue }
            found.append(String(words[Int(random >> 20) % words.count]))
        }
        return found
    }
}
