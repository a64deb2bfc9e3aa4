import Testing

@Suite("Reading Swift")
struct SwiftTextTests {
    @Test("comments and strings are blank, code and lines stay")
    func blanks() {
        let text = """
            let a = "try! \\"x" // try!
            /* try! /* as! */ try! */ let b = 1
            let c = #"as! \\(no) "as!"# + d
            """
        let code = SwiftText.code(of: text)
        #expect(!code.contains("!"))
        #expect(code.split(separator: "\n").count == 3)
        #expect(code.contains("let b = 1"))
        #expect(code.contains("+ d"))
        #expect(code.utf8.count == text.utf8.count)
    }

    @Test("code inside an interpolation stays code")
    func interpolation() {
        let code = SwiftText.code(of: #"let a = "text \(f("inner", try! g())) text" + h"#)
        #expect(code.contains("try! g()"))
        #expect(!code.contains("text"))
        #expect(!code.contains("inner"))
        #expect(code.contains("+ h"))
    }

    @Test("a string of many lines ends where its quotes do")
    func multiline() {
        let code = SwiftText.code(
            of: "let a = \"\"\"\n  say \"hi\" try!\n  \"\"\"\nlet b = c as! D")
        #expect(!code.contains("try!"))
        #expect(code.contains("as! D"))
    }

    @Test("a word is no word inside a longer one")
    func words() {
        #expect("await x".containsWord("await"))
        #expect(!"awaiting x".containsWord("await"))
        #expect(!"myawait".containsWord("await"))
        #expect("awaiting await".containsWord("await"))
    }
}
