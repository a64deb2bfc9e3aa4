/// What is the same on every timeline.
enum TimelineParts {
    /// What each promise says, as the table in `Simulations/README.md`.
    static let promises = [
        "I1": "equal operations, equal views", "I2": "all become equal", "I3": "saved survives",
        "I4": "no holes, causes present", "I5": "again changes nothing",
        "I6": "views are what the log folds to", "I7": "acknowledged is on the disk",
        "I10": "one operation at a place", "I11": "forks become evidence",
        "I12": "what waits is bounded", "I13": "equal nodes fall silent",
        "I14": "an independent model agrees",
    ]

    /// Classes of faults, in the order in which they are shown.
    static let faults = [
        ("partings", "partings"), ("brokenLinks", "broken links"), ("crashes", "crashes"),
        ("powerLosses", "power losses"), ("failedSteps", "failed steps"),
        ("clockJumps", "clock jumps"),
    ]

    /// The chart, empty, with all that is around it.
    static let stage = """
        <div class="tools">
        <button id="closer" aria-label="Zoom in">+</button>
        <button id="wider" aria-label="Zoom out">−</button>
        <button id="fit">all</button>
        <button id="previous" aria-label="Previous event">‹</button>
        <button id="next" aria-label="Next event">›</button>
        <label><input type="checkbox" id="talk"/> small talk</label>
        <span id="shown"></span><span id="span"></span>
        </div>
        <div class="stage">
        <svg id="chart" role="application" tabindex="0" aria-label="Timeline: a lane for each node">
        <defs>
        <clipPath id="clip"><rect/></clipPath>
        <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"><rect width="7" height="7" fill="var(--band)"/>
        <rect width="2.4" height="7" fill="var(--dead)" fill-opacity=".65"/></pattern>
        </defs>
        <g id="names"></g><g id="plot" clip-path="url(#clip)"></g>
        </svg>
        <svg id="map" role="img" aria-label="The whole run, small"></svg>
        <div id="tip" hidden="hidden"></div>
        </div>
        <p class="unseen" aria-live="polite" id="said"></p>
        \(legend)
        <p class="keys">Wheel zooms, drag moves, <kbd>←</kbd> <kbd>→</kbd> <kbd>+</kbd>
        <kbd>−</kbd> <kbd>0</kbd> too; <kbd>n</kbd> and <kbd>p</kbd> go through what happened.</p>
        <noscript><p>The chart is drawn by a program in this page; the figures below are not.</p>
        </noscript>
        """

    private static let legend = """
        <ul class="legend">
        \(item("<path d=\"M2 3Q12 0 17 12\" class=\"message mid\"/>", "operations on their way"))
        \(item("<path d=\"M2 7h14\" class=\"message lost\"/>", "lost"))
        \(item("<path d=\"M1 13L6 6L11 3L18 13Z\" class=\"lag\"/>", "how much it lacks"))
        \(item(groups, "who still reaches whom, by letter"))
        \(item("<rect y=\"5\" width=\"18\" height=\"5\" class=\"wall\"/>", "nothing passes"))
        \(item("<rect width=\"18\" height=\"14\" class=\"dead\"/>", "down"))
        \(item("<circle cx=\"9\" cy=\"7\" r=\"3.5\" class=\"mark act\"/>", "somebody acts"))
        \(item("<path d=\"M9 2l5 5l-5 5l-5 -5z\" class=\"mark fault\"/>", "something breaks"))
        \(item("<path d=\"M5 3l8 8m-8 0l8 -8\" class=\"mark died\"/>", "dies"))
        \(item("<path d=\"M5 2l9 5l-9 5z\" class=\"mark started\"/>", "starts"))
        \(item("<rect y=\"4\" width=\"18\" height=\"6\" class=\"equal\"/>", "all hold the same"))
        </ul>
        """

    private static let groups =
        "<rect width=\"9\" height=\"14\" class=\"group0\"/>"
        + "<rect x=\"9\" width=\"9\" height=\"14\" class=\"group1\"/>"

    private static func item(_ drawing: String, _ words: String) -> String {
        "<li><svg width=\"18\" height=\"14\" aria-hidden=\"true\">\(drawing)</svg>\(words)</li>"
    }
}
