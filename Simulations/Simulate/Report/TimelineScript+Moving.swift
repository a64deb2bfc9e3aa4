extension TimelineScript {
    /// Wheel, drag, keys and what is told about the place under the pointer.
    static let moving = #"""
        let asked = false;
        function redraw() {
            if (asked) return;
            asked = true;
            requestAnimationFrame(() => { asked = false; draw(); });
        }
        function show(from, to) {
            const least = Math.min(200, end), length = Math.min(end, Math.max(least, to - from));
            view.from = Math.max(0, Math.min(end - length, from + (to - from - length) / 2));
            view.to = view.from + length;
            redraw();
        }
        function zoom(factor, px) {
            const at = px === undefined ? (view.from + view.to) / 2 : time(px);
            const least = Math.min(200, end), span = (view.to - view.from) * factor;
            const length = Math.min(end, Math.max(least, span));
            const part = (at - view.from) / (view.to - view.from);
            show(at - part * length, at + (1 - part) * length);
        }
        function pan(part) {
            const by = (view.to - view.from) * part;
            show(view.from + by, view.to + by);
        }
        function place(event) {
            const box = svg.getBoundingClientRect();
            return { x: event.clientX - box.left, y: event.clientY - box.top };
        }
        svg.addEventListener("wheel", event => {
            event.preventDefault();
            const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
            const by = (event.deltaX || event.deltaY) * (event.deltaMode === 1 ? 16 : 1);
            if (isPan) pan(by / size.plot);
            else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), place(event).x);
        }, { passive: false });

        const fingers = new Map();
        let grip = null;
        svg.addEventListener("pointerdown", event => {
            fingers.set(event.pointerId, place(event));
            svg.setPointerCapture(event.pointerId);
            grip = hold();
            hide();
        });
        // What the fingers hold: the times under them must stay there.
        function hold() {
            const all = [...fingers.values()];
            if (all.length === 0) return null;
            const xs = all.map(f => f.x);
            return { times: xs.map(time), from: view.from, to: view.to, xs };
        }
        svg.addEventListener("pointermove", event => {
            if (!grip) { point(place(event)); return; }
            if (!fingers.has(event.pointerId)) return;
            fingers.set(event.pointerId, place(event));
            const xs = [...fingers.values()].map(f => f.x);
            if (xs.length > 1 && Math.abs(xs[0] - xs[1]) > 8) {
                const perPixel = (grip.times[1] - grip.times[0]) / (xs[1] - xs[0]);
                if (perPixel > 0) {
                    const from = grip.times[0] - (xs[0] - size.left) * perPixel;
                    show(from, from + size.plot * perPixel);
                }
                return;
            }
            const by = (grip.xs[0] - xs[0]) / size.plot * (grip.to - grip.from);
            show(grip.from + by, grip.to + by);
        });
        for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, event => {
            fingers.delete(event.pointerId);
            grip = hold();
        });
        svg.addEventListener("pointerleave", hide);
        svg.addEventListener("dblclick", event => zoom(0.4, place(event).x));

        function hide() {
            tip.hidden = true;
            const lit = $("lit");
            if (lit) lit.setAttribute("d", "");
        }
        function tell(at, lines) {
            tip.replaceChildren();
            lines.forEach((line, i) => {
                const made = document.createElement(i === 0 ? "b" : "span");
                made.textContent = line;
                tip.append(made);
            });
            tip.hidden = false;
            const box = svg.parentElement.getBoundingClientRect(), width = tip.offsetWidth;
            const left = at.x + 16 + width > box.width ? at.x - width - 12 : at.x + 16;
            tip.style.left = Math.max(2, left) + "px";
            const top = Math.min(at.y + 14, box.height - tip.offsetHeight - 4);
            tip.style.top = Math.max(2, top) + "px";
        }
        function many(words) {
            const shown = words.slice(0, 6);
            return words.length > 6 ? [...shown, `and ${words.length - 6} more`] : shown;
        }
        function point(at) {
            const lit = $("lit");
            if (at.x < size.left) return hide();
            let best = null, near = 9;
            for (const s of spots) {
                const d = Math.hypot(s.x - at.x, s.y - at.y);
                if (d < near) { near = d; best = s; }
            }
            if (lit) lit.setAttribute("d", "");
            if (best) return tell(at,
                [`${clock(best.at, true)} ${name(best.node)}`, ...many(best.words)]);
            const arrow = arrowAt(at);
            if (arrow && lit) {
                const { b, x1, y1, x2, y2, cx, cy } = arrow;
                lit.setAttribute("d", `M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`);
                return tell(at, [`${name(b.source)} → ${name(b.target)}`,
                    `${plural(b.operations, "operation")}, ${plural(b.frames, "frame")},`
                        + ` ${b.bytes} B`,
                    `left ${clock(b.sent, true)}, there by ${clock(b.arrives, true)}`,
                    ...(b.lost ? [`${plural(b.lost, "frame")} lost on the way`] : [])]);
            }
            tellLane(at);
        }
        function arrowAt(at) {
            let best = null, near = 5;
            for (const a of arrows) {
                for (let i = 1; i < 10; i++) {
                    const t = i / 10, u = 1 - t;
                    const d = Math.hypot(u * u * a.x1 + 2 * u * t * a.cx + t * t * a.x2 - at.x,
                        (u * u * a.y1 + 2 * u * t * a.cy + t * t * a.y2 - at.y) * 0.25);
                    if (d < near) { near = d; best = a; }
                }
            }
            return best;
        }
        function tellLane(at) {
            const n = Math.floor((at.y - size.top) / (size.lane + size.gap));
            if (n < 0 || n >= count) return hide();
            const t = time(at.x), i = Math.max(0, indexAt(run.samples, t));
            const lines = [`${clock(t, true)} ${name(n)}`];
            if (run.samples.length) {
                lines.push(`holds ${run.held[n][i]}, lacks ${run.lacking[n][i]}`);
            }
            const r = indexAt(run.reaches.map(item => item.at), t);
            if (r >= 0) {
                const letters = run.reaches[r].letters, mine = letters[n];
                if (mine === "/") lines.push("reaches nobody");
                else if (mine !== ".") lines.push("reaches " + ([...letters].map((l, k) =>
                    l === mine && k !== n ? name(k) : "").filter(Boolean).join(", ") || "nobody"));
            }
            if (run.down.some(d => d.node === n && d.from <= t && t <= d.to)) lines.push("is down");
            tell(at, lines);
        }

        const keys = {
            ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
            PageUp: () => pan(-0.9), PageDown: () => pan(0.9),
            Home: () => pan(-1e9), End: () => pan(1e9),
            "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6),
            "0": () => show(0, end), n: () => step(1), p: () => step(-1), Escape: hide,
        };
        svg.addEventListener("keydown", event => {
            const action = keys[event.key];
            if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            action();
        });
        // To the next thing that happened, or the one before.
        function step(by) {
            if (order.length === 0) return;
            focus = Math.max(0, Math.min(order.length - 1, focus + by));
            const item = order[focus], length = view.to - view.from;
            if (item.at < view.from || item.at > view.to) {
                show(item.at - length / 2, item.at + length / 2);
            }
            draw();
            const lines = [`${clock(item.at, true)} ${name(item.node)}`, item.words];
            said.textContent = lines.join(": ");
            tell({ x: x(item.at), y: item.node < 0 ? 64 : thread(item.node) }, lines);
        }
        $("closer").onclick = () => zoom(0.6);
        $("wider").onclick = () => zoom(1 / 0.6);
        $("fit").onclick = () => show(0, end);
        $("next").onclick = () => step(1);
        $("previous").onclick = () => step(-1);
        $("talk").checked = showsTalk;
        $("talk").onchange = event => { showsTalk = event.target.checked; redraw(); };
        let mapGrip = false;
        function jump(event) {
            const box = map.getBoundingClientRect(), half = (view.to - view.from) / 2;
            const at = (event.clientX - box.left) / box.width * end;
            show(at - half, at + half);
        }
        map.addEventListener("pointerdown", event => {
            mapGrip = true;
            map.setPointerCapture(event.pointerId);
            jump(event);
        });
        map.addEventListener("pointermove", event => { if (mapGrip) jump(event); });
        for (const kind of ["pointerup", "pointercancel"]) {
            map.addEventListener(kind, () => { mapGrip = false; });
        }
        new ResizeObserver(redraw).observe(svg);
        draw();
        """#
}
