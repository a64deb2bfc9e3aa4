/// How the timeline looks, in light and in dark.
enum TimelineStyle {
    /// The sheet of the page.
    static let text = colours + page + chart

    private static let colours = """
        :root { color-scheme: light dark; --paper: #fbfaf8; --card: #ffffff; --ink: #1d2129;
        --soft: #5d6675; --faint: #e4e2dd; --line: #cfccc5; --band: #f1efeb; --arrow: #4554c4;
        --lag: #d98a1f; --good: #1d7f4f; --bad: #c22f3d; --talk: #9aa1ad; --wall: #8a4b52;
        --a: #dfe9fb; --b: #fbe6d8; --c: #e0f2e2; --d: #f3e2f5; --e: #f8f0c9; --f: #dff1f4;
        --alone: #ecdcdc; --dead: #8d8f94; }
        @media (prefers-color-scheme: dark) {
        :root { --paper: #14171c; --card: #1b1f26; --ink: #e8e9ec; --soft: #a0a8b5;
        --faint: #2a2f38; --line: #3b424e; --band: #20252d; --arrow: #93a0ff; --lag: #e3a23f;
        --good: #55c48b; --bad: #ff7a80; --talk: #6f7887; --wall: #c98188; --a: #22314f;
        --b: #4a3123; --c: #1f3d2a; --d: #3d2a42; --e: #413a1c; --f: #1d3b41; --alone: #432a2d;
        --dead: #80848c; } }

        """

    private static let page = """
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--paper); color: var(--ink);
        font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { max-width: 1500px; margin: 0 auto; padding: 24px clamp(12px, 3vw, 40px) 48px; }
        h1 { font-size: 25px; line-height: 1.2; margin: 0; letter-spacing: -.01em;
        overflow-wrap: anywhere; }
        h2 { font-size: 16px; margin: 30px 0 8px; }
        .title { display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: center; }
        .verdict { border-radius: 99px; padding: 2px 13px; font-weight: 650; color: var(--card); }
        .kept { background: var(--good); }
        .stuck, .broken, .untried, .slow { background: var(--bad); }
        .sentence { color: var(--bad); font-weight: 600; margin: 8px 0 0; }
        .story { margin: 6px 0 0; color: var(--soft); max-width: 76ch; overflow-wrap: anywhere; }
        .facts { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 12px 0 0; padding: 0;
        list-style: none; color: var(--soft); font-size: 13.5px; }
        .facts b { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
        .checks { display: flex; flex-wrap: wrap; gap: 6px; margin: 14px 0 0; padding: 0;
        list-style: none; font-size: 13px; }
        .checks li { border: 1px solid var(--line); border-radius: 7px; padding: 1px 9px;
        background: var(--card); }
        .checks b { color: var(--good); } .checks .bad { border-color: var(--bad); }
        .checks .bad b, .checks .never b { color: var(--bad); }
        .checks .never { border-style: dashed; }
        .tools { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center;
        margin: 22px 0 8px; font-size: 13.5px; }
        button { font: inherit; color: var(--ink); background: var(--card); border-radius: 7px;
        border: 1px solid var(--line); padding: 3px 11px; cursor: pointer; min-height: 32px; }
        button:hover { border-color: var(--soft); }
        :focus-visible { outline: 2px solid var(--arrow); outline-offset: 2px; }
        label { display: inline-flex; gap: 6px; align-items: center; margin-left: 6px; }
        #span { margin-left: auto; font-variant-numeric: tabular-nums; }
        #shown { color: var(--soft); }
        .stage { position: relative; background: var(--card); border: 1px solid var(--line);
        border-radius: 12px; padding: 10px 8px 8px 12px; }
        #chart { display: block; width: 100%; touch-action: pan-y; cursor: grab; }
        #chart:active { cursor: grabbing; }
        #map { display: block; width: 100%; height: 34px; margin-top: 8px; cursor: pointer;
        background: var(--band); border-radius: 5px; touch-action: none; }
        #tip { position: absolute; pointer-events: none; background: var(--ink);
        color: var(--paper); border-radius: 7px; padding: 6px 10px; font-size: 12.5px;
        line-height: 1.4; max-width: min(340px, 80vw); overflow-wrap: anywhere; z-index: 2; }
        #tip > * { display: block; font-weight: 400; } #tip > b { font-weight: 650; }
        #tip[hidden] { display: none; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 10px 0 0; padding: 0;
        list-style: none; font-size: 13px; color: var(--soft); }
        .legend svg { vertical-align: -3px; margin-right: 5px; }
        .keys { color: var(--soft); font-size: 13px; margin: 6px 0 0; }
        kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 5px;
        font: inherit; font-size: 12px; background: var(--card); }
        .scroll { overflow-x: auto; } .low { max-height: 340px; overflow-y: auto; }
        table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
        th, td { text-align: right; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--faint);
        white-space: nowrap; } th { color: var(--soft); font-weight: 550; }
        th:first-child, td:first-child, .events td { text-align: left; }
        .events td:last-child { white-space: normal; overflow-wrap: anywhere; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden;
        clip-path: inset(50%); }

        """

    private static let chart = """
        svg text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink);
        user-select: none; -webkit-user-select: none; }
        svg .tick { fill: var(--soft); text-anchor: middle; font-variant-numeric: tabular-nums; }
        svg .heading { font-weight: 650; } svg .name { font-weight: 650; font-size: 14px; }
        svg .name.bad { fill: var(--bad); } svg .small { fill: var(--soft); font-size: 11px; }
        svg .letter { fill: var(--soft); font-size: 11.5px; font-weight: 650; }
        .grid { stroke: var(--faint); } .phase { stroke: var(--soft); stroke-dasharray: 2 3; }
        .band { fill: var(--band); } .group0 { fill: var(--a); } .group1 { fill: var(--b); }
        .group2 { fill: var(--c); } .group3 { fill: var(--d); } .group4 { fill: var(--e); }
        .group5 { fill: var(--f); } .alone { fill: var(--alone); }
        .wall { fill: var(--wall); } .oneway { fill-opacity: .35; }
        .dead { fill: url(#hatch); } .thread { stroke: var(--line); stroke-width: 1.5; }
        .lag { fill: var(--lag); fill-opacity: .26; }
        .lagline { fill: none; stroke: var(--lag); stroke-width: 1.3; stroke-linejoin: round; }
        .equal { fill: var(--good); } .unequal { fill: var(--lag); fill-opacity: .45; }
        .message { fill: none; stroke: var(--arrow); stroke-linecap: round;
        stroke-linejoin: round; pointer-events: none; }
        .thin { stroke-width: 1; stroke-opacity: .5; } .mid { stroke-width: 1.6;
        stroke-opacity: .65; } .thick { stroke-width: 2.8; stroke-opacity: .75; }
        .talk { stroke: var(--talk); stroke-width: .8; stroke-opacity: .55; }
        .lost { stroke: var(--bad); stroke-width: 1.3; stroke-dasharray: 4 2; }
        .lit { stroke: var(--ink); stroke-width: 3; }
        .mark { stroke: var(--card); stroke-width: 1; } .act { fill: var(--ink); }
        .refused { fill: var(--card); stroke: var(--soft); stroke-width: 1.4; }
        .fault { fill: var(--wall); } .stepFailed { fill: var(--bad); }
        .clockJumped { fill: var(--lag); } .started { fill: var(--good); }
        .died, .lostPower { stroke: var(--bad); stroke-width: 2.4; fill: none; }
        .flag { stroke-width: 1.6; } .flag.good { stroke: var(--good); }
        .flag.bad { stroke: var(--bad); stroke-width: 2.2; }
        svg .flagtext { font-weight: 650; paint-order: stroke; stroke: var(--card);
        stroke-width: 3px; } svg .flagtext.good { fill: var(--good); }
        svg .flagtext.bad { fill: var(--bad); }
        .mapparted { fill: var(--wall); fill-opacity: .3; }
        .window { fill: var(--arrow); fill-opacity: .1; stroke: var(--arrow); }
        @media (max-width: 620px) { svg .name { font-size: 12px; } h1 { font-size: 20px; } }

        """
}
