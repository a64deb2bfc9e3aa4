/// `1 file`, `2 files`, `0 files`.
///
/// - Parameters:
///   - noun: the word for one.
///   - plural: the word for more; nil if it is the noun with an s behind it.
package func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String
{
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
