import Parley

/// Passages that answer a question, each in quotation marks, with its source.
///
/// ```
///   “the key hangs at the farm”
///       – ada in hut, 25 Dec 2004 09:14, #7
/// ```
enum AnswerLines {
    static func text(_ answers: AnswersView) -> String {
        answers.passages.map { passage in
            "  “\(SearchLines.oneLine(passage.text))\(passage.isCut ? " …" : "")”\n"
                + "      – \(harmless(passage.author)) in \(harmless(passage.title)), "
                + "\(Clock().moment(passage.time)), #\(passage.number)"
        }.joined(separator: "\n")
    }
}
