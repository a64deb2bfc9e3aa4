import ParleyNotes
import Testing

@Suite("A text of scalars")
struct ScalarTextTests {
    @Test("is what an array would be", arguments: 0..<20 as Range<UInt64>)
    func drawn(seed: UInt64) {
        var draws = Draws(seed: seed)
        var (text, array): (ScalarText, [Unicode.Scalar]) = (ScalarText(), [])
        for step in 0..<400 {
            if step % 3 == 2 {
                let position = draws.number(below: array.count + 1)
                let length = draws.number(below: min(1_500, array.count - position) + 1)
                text.remove(length, at: position)
                array.removeSubrange(position..<position + length)
            } else {
                let length = draws.number(below: step % 7 == 0 ? 3_000 : 9)
                let new = (0..<length).map { Unicode.Scalar(UInt8(97 + $0 % 26)) }
                let position = draws.number(below: array.count + 1)
                text.insert(new[...], at: position)
                array.insert(contentsOf: new, at: position)
            }
            #expect(text.count == array.count)
        }
        #expect(text.scalars == array, "seed \(seed)")
        #expect(text == ScalarText(array))
    }
}
