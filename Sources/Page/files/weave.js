// Two texts that were made of one, woven into each other: plain values, which ask nothing and show nothing.

/** How many characters a text has as the node counts them. */
export const scalars = (text) => [...text].length;

const isHalf = (text, place) => place > 0 && place < text.length && /[\ud800-\udbff]/.test(text[place - 1]) && /[\udc00-\udfff]/.test(text[place]);

/** Beyond so many steps a part counts as written anew: exact costs their square. */
const stepCountMax = 400;

/**
 * What leads from one text to another: parts of the first, by their start and end in it, and what takes the place of
 * each; in their order, without touching.
 */
export function changes(before, after) {
  let start = 0;
  let [end, last] = [before.length, after.length];
  while (start < Math.min(end, last) && before[start] === after[start]) start++;
  if (isHalf(before, start) || isHalf(after, start)) start--;
  while (end > start && last > start && before[end - 1] === after[last - 1]) end--, last--;
  if (isHalf(before, end) || isHalf(after, last)) end++, last++;
  if (start === end && start === last) return [];
  const whole = [{ start, end, text: after.slice(start, last) }];
  if (start === end || start === last) return whole;
  return inParts([...before.slice(start, end)], [...after.slice(start, last)], start) ?? whole;
}

/** The shortest way from one to the other. Source: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986. */
function inParts(before, after, offset) {
  const trace = [];
  let reach = new Map([[1, 0]]);
  for (let steps = 0; steps <= stepCountMax; steps++) {
    trace.push(reach);
    const next = new Map(reach);
    for (let line = -steps; line <= steps; line += 2) {
      const isDown = line === -steps || (line !== steps && reach.get(line - 1) < reach.get(line + 1));
      let x = isDown ? reach.get(line + 1) : reach.get(line - 1) + 1;
      while (x < before.length && x - line < after.length && before[x] === after[x - line]) x++;
      next.set(line, x);
      if (x >= before.length && x - line >= after.length) return parts(trace, before, after, offset);
    }
    reach = next;
  }
  return null;
}

function parts(trace, before, after, offset) {
  const found = [];
  let [x, y] = [before.length, after.length];
  for (let steps = trace.length - 1; steps > 0; steps--) {
    const reach = trace[steps];
    const line = x - y;
    const isDown = line === -steps || (line !== steps && reach.get(line - 1) < reach.get(line + 1));
    const from = reach.get(isDown ? line + 1 : line - 1);
    const fromY = from - (isDown ? line + 1 : line - 1);
    // Of the way back, what is the same comes first.
    while (x > (isDown ? from : from + 1) && y > (isDown ? fromY + 1 : fromY)) x--, y--;
    const [last] = found;
    if (last && last.x === x && last.y === y) Object.assign(last, { x: from, y: fromY });
    else found.unshift({ x: from, y: fromY, endX: x, endY: y });
    [x, y] = [from, fromY];
  }
  const places = [offset];
  for (const each of before) places.push(places.at(-1) + each.length);
  return found.map((each) => ({ start: places[each.x], end: places[each.endX], text: after.slice(each.y, each.endY).join("") }));
}

/** Where a place of a text is once these changes were made: behind what was inserted there. */
export function movedBy(others, place) {
  let moved = place;
  for (const { start, end, text } of others) {
    if (start > place) break;
    moved += text.length - (Math.min(end, place) - start);
  }
  return moved;
}

/** A text with what was made of it here, `own`, and what others made of it, as changes: what either wrote stays, what either deleted goes. */
export function woven(text, own, others) {
  let found = "";
  let place = 0;
  for (const { start, end, text: words } of [...others, ...changes(text, own)].sort((one, other) => one.start - other.start)) {
    if (start > place) found += text.slice(place, (place = start));
    found += words;
    place = Math.max(place, end);
  }
  return found + text.slice(place);
}
