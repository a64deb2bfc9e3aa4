import Foundation

/// A run as one page that shows it: lanes, cuts, messages, and when all were equal again.
///
/// The page is a single file that fetches nothing, reads well in light and dark, and is well
/// formed XML too. Whatever a scenario says is shown as text and never obeyed.
public struct Timeline {
    private let report: Report
    private let story: String
    private let model: TimelineModel

    /// The timeline of a recording that is finished.
    ///
    /// - Parameters:
    ///   - report: what ``Recording/report(_:)`` gave.
    ///   - story: what the scenario tells, in a sentence or two.
    public init(of recording: Recording, report: Report, story: String = "") {
        self.report = report
        self.story = story
        model = TimelineModel(recording, report)
    }

    /// The page.
    public func html() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = Self.escapedForScript(
            String(decoding: try encoder.encode(model), as: UTF8.self))
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy)"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <title>\(Self.escaped(report.scenario)) · seed \(report.seed)</title>
            <style>/*<![CDATA[*/
            \(TimelineStyle.text)/*]]>*/</style>
            </head>
            <body>
            <main>
            \(heading)
            \(TimelineParts.stage)
            \(nodeTable)
            \(events)
            </main>
            <script type="application/json" id="run">\(json)</script>
            <script>//<![CDATA[
            \(TimelineScript.text)
            //]]></script>
            </body>
            </html>

            """
    }

    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

    // MARK: Above the chart

    private var heading: String {
        let verdict = report.verdict
        let sentence = [verdict.invariant, verdict.sentence].compactMap { $0 }
            .joined(separator: ": ")
        let told = sentence.isEmpty ? "" : "<p class=\"sentence\">\(Self.escaped(sentence))</p>"
        let story = story.isEmpty ? "" : "<p class=\"story\">\(Self.escaped(story))</p>"
        let outcome = verdict.outcome.rawValue
        return """
            <div class="title"><h1>\(Self.escaped(report.scenario))</h1>
            <span class="verdict \(outcome)">\(outcome)</span></div>
            \(told)\(story)
            <ul class="facts">\(facts.joined())</ul>
            <ul class="checks" aria-label="Promises and how often each was compared">\(checks)</ul>
            """
    }

    private var facts: [String] {
        func fact(_ name: String, _ value: String) -> String {
            "<li>\(name) <b>\(Self.escaped(value))</b></li>"
        }
        var all = [
            fact("seed", "\(report.seed)"),
            fact("virtual time", StripChart.clock(report.virtualMilliseconds)),
        ]
        if let real = report.realMilliseconds {
            all.append(fact("real time", "\(VirtualTime.milliseconds(real))"))
        }
        if let speed = report.speed { all.append(fact("speed", "\(Int(speed))×")) }
        all.append(fact("written", "\(report.nodes.reduce(0) { $0 + $1.written })"))
        all.append(fact("frames", "\(report.frames.values.reduce(0, +))"))
        for (name, words) in TimelineParts.faults {
            if let count = report.faults[name], count > 0 { all.append(fact(words, "\(count)")) }
        }
        if report.refused > 0 { all.append(fact("refused acts", "\(report.refused)")) }
        let leftOut = report.leftOut.acts + report.leftOut.incidents + report.leftOut.reaches
        if leftOut > 0 { all.append(fact("not drawn", "and \(leftOut) more")) }
        return all + [fact("trace", report.traceHash), fact("version", report.version)]
    }

    private var checks: String {
        let number = { (name: String) in Int(name.dropFirst()) ?? 0 }
        let names = report.invariants.keys.sorted { (number($0), $0) < (number($1), $1) }
        return names.map { name in
            let count = report.invariants[name] ?? 0
            let isBroken = report.verdict.invariant == name
            let kind = isBroken ? " class=\"bad\"" : count == 0 ? " class=\"never\"" : ""
            let sign = isBroken ? "✗" : count == 0 ? "never" : "✓"
            let title = TimelineParts.promises[name].map { "\($0) " } ?? ""
            return "<li\(kind)><b>\(sign)</b> \(Self.escaped(name)) \(title)× \(count)</li>"
        }.joined()
    }

    // MARK: Below the chart

    private var nodeTable: String {
        let rows = report.nodes.map { node in
            let numbers = [
                node.written, node.held, node.lacking, node.received, node.duplicates,
                node.crashes, node.powerLosses, node.failedSteps, node.clockJumps, node.bytesIn,
                node.bytesOut,
            ]
            let cells = numbers.map { "<td>\($0)</td>" }.joined()
            return "<tr><td>\(Self.escaped(node.name))</td>\(cells)</tr>"
        }
        return """
            <h2>Nodes</h2>
            <div class="scroll" tabindex="0" role="region" aria-label="Nodes"><table>
            <thead><tr><th>node</th><th>written</th><th>held</th><th>lacking</th>
            <th>received</th><th>twice</th><th>crashes</th><th>power lost</th>
            <th>failed steps</th><th>clock jumps</th><th>bytes in</th>
            <th>bytes out</th></tr></thead>
            <tbody>\(rows.joined())</tbody></table></div>
            """
    }

    private var events: String {
        guard !report.lastEvents.isEmpty else { return "" }
        let rows = report.lastEvents.map {
            "<tr><td>\(StripChart.clock($0.at))</td><td>\(Self.escaped($0.node))</td>"
                + "<td>\(Self.escaped($0.what))</td></tr>"
        }
        return """
            <h2>What happened last</h2>
            <div class="scroll low" tabindex="0" role="region" aria-label="What happened last">
            <table class="events"><tbody>\(rows.joined())</tbody></table></div>
            """
    }

    // MARK: Escaping

    /// Text between tags or in quotes. What XML cannot hold becomes a mark that says so.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(isCharacter(scalar) ? scalar : "\u{fffd}")
            }
        }
        return result
    }

    /// JSON inside a script element: outside of strings it has none of these characters.
    private static func escapedForScript(_ json: String) -> String {
        var result = ""
        for scalar in json.unicodeScalars {
            switch scalar {
            case "&": result += "\\u0026"
            case "<": result += "\\u003c"
            case ">": result += "\\u003e"
            default: result.unicodeScalars.append(isCharacter(scalar) ? scalar : "\u{fffd}")
            }
        }
        return result
    }

    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x20 { return scalar == "\n" || scalar == "\t" || scalar == "\r" }
        return scalar.value != 0xfffe && scalar.value != 0xffff
    }
}
