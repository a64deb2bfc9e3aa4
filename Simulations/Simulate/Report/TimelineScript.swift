/// What draws the timeline and lets a person move in it.
enum TimelineScript {
    /// The program of the page. It fetches nothing and puts texts into the page as texts only.
    static let text = model + drawing + moving

    private static let model = #"""
        "use strict";
        const run = JSON.parse(document.getElementById("run").textContent);
        const $ = id => document.getElementById(id);
        const svg = $("chart"), map = $("map"), tip = $("tip"), said = $("said");
        const count = run.nodes.length, end = Math.max(run.end, 1);
        const view = { from: 0, to: end };
        const size = { width: 0, left: 0, lane: 0, gap: 10, top: 84, height: 0 };
        let showsTalk = run.bundles.length < 400, spots = [], arrows = [], focus = -1;
        const lackMax = Math.max(1, ...run.lacking.map(l => l.reduce((a, b) => Math.max(a, b), 0)));
        const order = [...run.acts.map(a => ({ at: a.at, node: a.node, words: a.words })),
            ...run.incidents.map(i => ({ at: i.at, node: i.node, words: i.words }))]
            .sort((a, b) => a.at - b.at);

        function clock(ms, fine) {
            const s = ms / 1000, two = n => String(Math.floor(n)).padStart(2, "0");
            const text = `${Math.floor(s / 3600)}:${two(s / 60 % 60)}:${two(s % 60)}`;
            return fine ? text + "." + String(Math.floor(ms % 1000)).padStart(3, "0") : text;
        }
        const x = t => size.left + (t - view.from) / (view.to - view.from) * size.plot;
        const time = px => view.from + (px - size.left) / size.plot * (view.to - view.from);
        const laneTop = n => size.top + n * (size.lane + size.gap);
        const thread = n => laneTop(n) + size.lane * 0.6;
        const name = n => run.nodes[n] ? run.nodes[n].name : "everybody";
        const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

        function el(tag, attributes, parent, text) {
            const made = document.createElementNS(svg.namespaceURI, tag);
            for (const key in attributes) made.setAttribute(key, attributes[key]);
            if (text !== undefined) made.textContent = text;
            parent.append(made);
            return made;
        }
        function rect(parent, x0, y, x1, height, name) {
            if (x1 < size.left || x0 > size.width) return null;
            const from = Math.max(x0, size.left - 2), to = Math.min(x1, size.width + 2);
            return el("rect", { x: from, y, width: Math.max(to - from, 0.5), height, class: name },
                parent);
        }
        // Stretches of [at, value], each lasting until the next.
        function stretches(list, draw) {
            list.forEach((item, i) => draw(item, i + 1 < list.length ? list[i + 1].at : end));
        }
        function indexAt(list, t) {
            let low = 0, high = list.length;
            while (low < high) {
                const middle = (low + high) >> 1;
                if (list[middle] <= t) low = middle + 1; else high = middle;
            }
            return low - 1;
        }

        """#

    private static let drawing = #"""
        function measure() {
            size.width = svg.clientWidth || 900;
            size.left = size.width < 620 ? 66 : 112;
            size.plot = size.width - size.left - 14;
            size.lane = count <= 3 ? 96 : count <= 5 ? 76 : count <= 8 ? 58 : 40;
            size.height = laneTop(count) + 6;
            svg.setAttribute("height", size.height);
            svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
            const clip = $("clip").firstElementChild;
            for (const [key, value] of [["x", size.left], ["y", 0], ["width", size.plot],
                ["height", size.height]]) clip.setAttribute(key, value);
        }
        function drawAxis(g) {
            const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4,
                12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 6048e5];
            const room = (view.to - view.from) / Math.max(2, size.plot / 96);
            const step = steps.find(s => s >= room) || steps.at(-1) * Math.ceil(room / 6048e5);
            for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
                el("line", { x1: x(t), x2: x(t), y1: 20, y2: size.height, class: "grid" }, g);
                const text = el("text", { x: x(t), y: 14, class: "tick" }, g, clock(t, step < 1e3));
                if (x(t) > size.width - 50) text.style.textAnchor = "end";
                else if (x(t) < size.left + 30) text.style.textAnchor = "start";
            }
        }
        function drawPhases(g) {
            stretches(run.phases, (phase, to) => {
                const from = Math.max(x(phase.at), size.left), until = Math.min(x(to), size.width);
                if (until < size.left || from > size.width) return;
                if (x(phase.at) >= size.left && phase.at > 0) el("line", { x1: from, x2: from,
                    y1: 24, y2: size.height, class: "phase" }, g);
                const letters = Math.floor((until - from - 10) / 7);
                if (letters < 2) return;
                const short = phase.name.length > letters
                    ? phase.name.slice(0, letters - 1) + "…" : phase.name;
                el("title", {}, el("text", { x: from + 6, y: 38, class: "heading" }, g, short),
                    phase.name);
            });
            stretches(run.equal, (item, to) => {
                rect(g, x(item.at), 52, x(to), 8, item.is ? "equal" : "unequal");
            });
        }
        function drawReach(g) {
            stretches(run.reaches, (item, to) => {
                for (let n = 0; n < count; n++) {
                    const letter = item.letters[n];
                    const tone = letter === "." ? "whole" : letter === "/" ? "alone"
                        : "group" + (letter.toUpperCase().charCodeAt(0) - 65) % 6;
                    rect(g, x(item.at), laneTop(n), x(to), size.lane, "band " + tone);
                    const from = Math.max(x(item.at), size.left);
                    if (letter !== "." && Math.min(x(to), size.width) - from > 20) el("text", {
                        x: from + 5, y: laneTop(n) + 14, class: "letter" }, g,
                        letter === "/" ? "alone" : letter);
                    const other = item.letters[n + 1];
                    if (n + 1 < count && (other !== letter || letter === "/") && letter !== ".") {
                        rect(g, x(item.at), laneTop(n) + size.lane, x(to), size.gap,
                            item.oneWay ? "wall oneway" : "wall");
                    }
                }
            });
            for (const item of run.down) {
                rect(g, x(item.from), laneTop(item.node), x(item.to), size.lane, "dead");
            }
        }
        function drawLag(g, n) {
            const base = laneTop(n) + size.lane, full = size.lane - 8, list = run.lacking[n];
            const first = Math.max(0, indexAt(run.samples, view.from));
            const last = Math.min(list.length - 1, indexAt(run.samples, view.to) + 1);
            if (last < first) return;
            const height = i => base - full * Math.sqrt(list[i] / lackMax);
            let path = `M${x(run.samples[first])} ${base}`, top = "", any = false;
            for (let i = first; i <= last; i++) {
                const px = x(run.samples[i]).toFixed(1), py = height(i).toFixed(1);
                path += i === first ? `V${py}` : `H${px}V${py}`;
                top += i === first ? `M${px} ${py}` : `H${px}V${py}`;
                any = any || list[i] > 0;
            }
            if (!any) return;
            el("path", { d: path + `L${x(run.samples[last])} ${base}Z`, class: "lag" }, g);
            el("path", { d: top, class: "lagline" }, g);
        }
        function bundled() {
            const talk = b => showsTalk || b.operations > 0 || b.lost > 0;
            const seen = run.bundles.filter(b =>
                b.arrives >= view.from && b.sent <= view.to && talk(b));
            let list = seen;
            const room = Math.round(Math.max(90, Math.min(420, size.plot * 0.3)));
            if (seen.length > room) {
                const places = new Map();
                for (const b of seen) {
                    const slot = Math.floor(x(b.sent) / 14);
                    const key = (slot * count + b.source) * count + b.target;
                    const all = places.get(key);
                    if (!all) { places.set(key, { ...b }); continue; }
                    all.arrives = Math.max(all.arrives, b.arrives);
                    for (const k of ["frames", "bytes", "operations", "lost"]) all[k] += b[k];
                }
                list = [...places.values()];
            }
            list.sort((a, b) =>
                b.operations - a.operations || b.bytes - a.bytes || a.sent - b.sent);
            const shown = list.slice(0, room);
            $("shown").textContent = seen.length === 0 ? "no messages here"
                : shown.length === seen.length ? `${plural(seen.length, "arrow")}`
                : `${seen.length} groups of messages, shown as ${shown.length} arrows`;
            return shown;
        }
        function drawMessages(g) {
            const paths = { thin: "", mid: "", thick: "", lost: "", talk: "" };
            arrows = bundled().map(b => {
                const y1 = thread(b.source), y2 = thread(b.target), down = y2 > y1 ? 1 : -1;
                const spread = ((b.source * 7 + b.target * 3) % 11 - 5) * 0.9;
                const wide = view.to - view.from > 2e5;
                const x1 = x(b.sent) + (wide ? spread : 0);
                const x2 = Math.max(x(b.arrives) + (wide ? spread : 0), x1 + 3);
                const bow = down * Math.min(9, 2 + Math.abs(y2 - y1) / 24);
                const cx = (x1 + x2) / 2 + bow, cy = (y1 + y2) / 2;
                const kind = b.lost >= b.frames ? "lost" : b.operations === 0 ? "talk"
                    : b.operations > 30 ? "thick" : b.operations > 5 ? "mid" : "thin";
                const at = 1 - Math.min(0.4, 7 / Math.max(8, Math.abs(y2 - y1)));
                paths[kind] += `M${x1.toFixed(1)} ${y1}`
                    + `Q${cx.toFixed(1)} ${cy} ${x2.toFixed(1)} ${y2}`;
                const mx = (1 - at) ** 2 * x1 + 2 * at * (1 - at) * cx + at * at * x2;
                const my = (1 - at) ** 2 * y1 + 2 * at * (1 - at) * cy + at * at * y2;
                const ux = x2 - mx, uy = y2 - my, length = Math.hypot(ux, uy) || 1;
                const [hx, hy] = [ux / length * 5, uy / length * 5];
                const cross = `M${(cx - 3).toFixed(1)} ${cy - 3}l6 6m-6 0l6 -6`;
                if (kind === "lost") paths.lost += cross;
                else paths[kind] += `M${(x2 - hx - hy * 0.5).toFixed(1)} `
                    + `${(y2 - hy + hx * 0.5).toFixed(1)}L${x2.toFixed(1)} ${y2}`
                    + `L${(x2 - hx + hy * 0.5).toFixed(1)} ${(y2 - hy - hx * 0.5).toFixed(1)}`;
                return { b, x1, y1, x2, y2, cx, cy };
            });
            for (const kind of ["talk", "thin", "mid", "thick", "lost"]) {
                if (paths[kind]) el("path", { d: paths[kind], class: "message " + kind }, g);
            }
            el("path", { d: "", class: "message lit", id: "lit" }, g);
        }
        function drawMarks(g) {
            spots = [];
            const places = new Map();
            const put = (item, kind) => {
                if (item.at < view.from || item.at > view.to) return;
                const node = item.node < 0 ? -1 : item.node, slot = Math.round(x(item.at) / 7);
                const key = `${node} ${slot} ${kind}`, spot = places.get(key);
                if (spot) { spot.words.push(item.words); return; }
                const made = { at: item.at, node, kind, words: [item.words], x: x(item.at),
                    y: node < 0 ? 68 : kind === "act" || kind === "refused"
                        ? thread(node) - 10 : thread(node) };
                places.set(key, made);
                spots.push(made);
            };
            for (const a of run.acts) {
                put(a, a.refused ? "refused" : a.fault ? "fault" : "act");
            }
            for (const i of run.incidents) put(i, i.kind);
            for (const s of spots) {
                const r = Math.min(4.5, 2 + Math.sqrt(s.words.length) * 0.6);
                if (s.kind === "act" || s.kind === "refused") el("circle", { cx: s.x, cy: s.y,
                    r, class: "mark " + s.kind }, g);
                else if (s.kind === "started") el("path", { class: "mark started",
                    d: `M${s.x - 3} ${s.y - 5}l8 5l-8 5z` }, g);
                else if (s.kind === "died" || s.kind === "lostPower") el("path", {
                    class: "mark " + s.kind, d: `M${s.x - 4} ${s.y - 4}l8 8m-8 0l8 -8` }, g);
                else el("path", { class: "mark " + s.kind,
                    d: `M${s.x} ${s.y - 5}l5 5l-5 5l-5 -5z` }, g);
            }
        }
        function flag(g, at, words, kind) {
            if (at < view.from || at > view.to) return;
            el("line", { x1: x(at), x2: x(at), y1: 46, y2: size.height, class: "flag " + kind }, g);
            const right = x(at) > size.left + size.plot * 0.6;
            const room = Math.floor(((right ? x(at) - size.left : size.width - x(at)) - 14) / 6.1);
            const short = words.length <= room ? words
                : words.slice(0, Math.max(1, room - 1)) + "…";
            const text = el("text", { x: x(at) + (right ? -6 : 6), y: 79, class: "flagtext " + kind,
                "text-anchor": right ? "end" : "start" }, g, short);
            el("title", {}, text, words);
        }
        function drawNames(g) {
            for (let n = 0; n < count; n++) {
                const node = run.nodes[n], wide = size.left > 100;
                const most = wide ? 13 : 7;
                const short = node.name.length <= most ? node.name
                    : node.name.slice(0, most - 1) + "…";
                el("text", { x: 2, y: thread(n) - 6, class: "name" + (node.bad ? " bad" : "") },
                    g, short);
                el("text", { x: 2, y: thread(n) + 10, class: "small" }, g,
                    node.bad ? "misbehaves" : `holds ${node.held}`);
            }
            el("text", { x: 2, y: 60, class: "small" }, g, "all equal");
        }
        function draw() {
            measure();
            const plot = $("plot"), names = $("names");
            plot.replaceChildren();
            names.replaceChildren();
            drawReach(plot);
            drawAxis(plot);
            for (let n = 0; n < count; n++) {
                drawLag(plot, n);
                el("line", { x1: size.left, x2: size.width, y1: thread(n), y2: thread(n),
                    class: "thread" }, plot);
            }
            drawPhases(plot);
            drawMessages(plot);
            drawMarks(plot);
            if (run.equalSince >= 0) flag(plot, run.equalSince,
                run.outcome === "kept" ? "all equal" : "", "good");
            if (run.divergence) flag(plot, run.divergence.at,
                "first difference: " + run.divergence.words, "bad");
            else if (run.outcome !== "kept") flag(plot, run.verdictAt, run.sentence, "bad");
            drawNames(names);
            drawMap();
            $("span").textContent = `${clock(view.from)} – ${clock(view.to)}`;
        }
        function drawMap() {
            map.replaceChildren();
            const width = map.clientWidth || 900, height = 34;
            map.setAttribute("viewBox", `0 0 ${width} ${height}`);
            const at = t => t / end * width;
            stretches(run.reaches, (item, to) => {
                if (/[^.]/.test(item.letters)) el("rect", { x: at(item.at), y: 0,
                    width: Math.max(1, at(to) - at(item.at)), height, class: "mapparted" }, map);
            });
            const sums = run.samples.map((_, i) => run.lacking.reduce((a, l) => a + l[i], 0));
            const most = sums.reduce((a, b) => Math.max(a, b), 1);
            let path = `M0 ${height}`;
            sums.forEach((s, i) => { path += `L${at(run.samples[i]).toFixed(1)} `
                + (height - (height - 4) * Math.sqrt(s / most)).toFixed(1); });
            el("path", { d: path + `L${width} ${height}Z`, class: "lag" }, map);
            const isAll = view.from <= 0 && view.to >= end;
            if (!isAll) el("rect", { x: at(view.from), y: 1, height: height - 2, rx: 4,
                class: "window",
                width: Math.max(4, at(view.to) - at(view.from)) }, map);
        }

        """#
}
