// A list of many rows of unknown heights, of which only those in sight are elements. Its scrollbar shows the
// whole: heights are guessed until they are measured, and kept in a Fenwick tree, so that the place of any
// row is found in a few steps.

export class VirtualList {
  #sums = new Float64Array(1);
  #heights = new Float32Array(0);
  #count = 0;
  #rows = new Map();
  #asked = 0;
  #anchor = { row: 0, offset: 0 };
  #top = 0;
  #set = -1;
  #measured;

  /**
   * @param element what scrolls
   * @param row makes the element of a row
   * @param guess the height of a row that was not measured
   * @param seen is told the first and the last row in sight, and one behind it
   */
  constructor(element, { row, guess, seen }) {
    Object.assign(this, { element, row, guess, seen, sticks: true });
    this.pad = element.appendChild(document.createElement("div"));
    this.pad.className = "pad";
    this.pad.setAttribute("role", "list");
    element.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#measured = new ResizeObserver((entries) => this.#measure(entries));
    this.#measured.observe(element);
  }

  get count() {
    return this.#count;
  }

  /** The row at the upper edge, and how far it is above that. */
  get anchor() {
    return { ...this.#anchor };
  }

  /** All of it is new; what stands where is said by `show` or `stick`. */
  reset(count) {
    for (const row of this.#rows.values()) this.#drop(row);
    this.#rows.clear();
    this.#count = 0;
    this.#heights = new Float32Array(0);
    this.#sums = new Float64Array(1);
    this.grow(count);
  }

  /** There are more rows at the end, or fewer. */
  grow(count) {
    const heights = new Float32Array(count);
    heights.set(this.#heights.subarray(0, count));
    for (let row = this.#count; row < count; row++) heights[row] = this.guess(row);
    const sums = new Float64Array(count + 1);
    for (let row = 1; row <= count; row++) {
      sums[row] += heights[row - 1];
      const parent = row + (row & -row);
      if (parent <= count) sums[parent] += sums[row];
    }
    [this.#heights, this.#sums, this.#count] = [heights, sums, count];
    for (const [row, element] of this.#rows) {
      if (row >= count) {
        this.#drop(element);
        this.#rows.delete(row);
      }
    }
    this.#settle();
    this.draw();
  }

  /** These rows look different. */
  refresh(rows) {
    for (const row of rows) {
      const old = this.#rows.get(row);
      if (!old) continue;
      const held = old.contains(document.activeElement);
      const fresh = this.#make(row);
      this.#measured.unobserve(old);
      old.replaceWith(fresh);
      this.#rows.set(row, fresh);
      this.#measured.observe(fresh);
      if (held) fresh.focus({ preventScroll: true });
    }
  }

  /** Shows a row so far below the upper edge. */
  show(row, below = 0) {
    this.sticks = false;
    this.#anchor = { row: Math.max(0, Math.min(row, this.#count - 1)), offset: -below };
    this.#settle();
    this.draw();
  }

  /** Stays at the end, whatever comes. */
  stick() {
    this.sticks = true;
    this.#settle();
    this.draw();
  }

  /** Where a row begins, from the first one. */
  offset(row) {
    let sum = 0;
    for (; row > 0; row -= row & -row) sum += this.#sums[row];
    return sum;
  }

  /** The row at a place. */
  at(place) {
    let row = 0;
    let step = 1;
    while (step * 2 <= this.#count) step *= 2;
    for (; step; step >>= 1) {
      if (row + step <= this.#count && this.#sums[row + step] <= place) {
        row += step;
        place -= this.#sums[row];
      }
    }
    return Math.min(row, Math.max(0, this.#count - 1));
  }

  rowElement(row) {
    return this.#rows.get(row);
  }

  #scrolled() {
    const top = this.element.scrollTop;
    const atEnd = top + this.element.clientHeight >= this.element.scrollHeight - 4;
    // What grows also fires this event: only who moves up leaves the end.
    if (atEnd) this.sticks = true;
    else if (top < this.#top - 1) this.sticks = false;
    this.#top = top;
    // Where it stands because it was put there, what it was put by is more exact.
    if (Math.abs(top - this.#set) > 1) this.#note();
    this.#ask();
  }

  #note() {
    const top = this.element.scrollTop;
    const row = this.at(top);
    this.#anchor = { row, offset: top - this.offset(row) };
    this.#set = top;
  }

  /** Puts what is read back to where it stood. */
  #settle() {
    const height = this.offset(this.#count);
    this.pad.style.height = `${height}px`;
    const top = this.sticks ? height : this.offset(this.#anchor.row) + this.#anchor.offset;
    if (Math.abs(this.element.scrollTop - top) > 0.5) this.element.scrollTop = top;
    this.#set = this.#top = this.element.scrollTop;
    if (this.sticks) this.#note();
  }

  #measure(entries) {
    let hasChanged = false;
    for (const entry of entries) {
      const row = entry.target.row;
      if (entry.target === this.element) hasChanged = true;
      if (row === undefined || !entry.target.isConnected) continue;
      const height = entry.borderBoxSize[0].blockSize;
      const change = height - this.#heights[row];
      if (Math.abs(change) < 0.25) continue;
      this.#heights[row] = height;
      for (let place = row + 1; place <= this.#count; place += place & -place) this.#sums[place] += change;
      hasChanged = true;
    }
    if (!hasChanged) return;
    this.#settle();
    this.draw();
  }

  #ask() {
    this.#asked ||= requestAnimationFrame(() => this.draw());
  }

  #make(row) {
    const element = this.row(row);
    element.row = row;
    element.setAttribute("aria-setsize", this.#count);
    element.setAttribute("aria-posinset", row + 1);
    element.style.top = `${this.offset(row)}px`;
    return element;
  }

  #drop(element) {
    this.#measured.unobserve(element);
    element.remove();
  }

  draw() {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
    const { scrollTop, clientHeight } = this.element;
    if (!this.#count) return this.seen(0, 0);
    const first = this.at(scrollTop);
    const end = Math.min(this.#count, this.at(scrollTop + clientHeight) + 1);
    const [from, to] = [Math.max(0, first - 8), Math.min(this.#count, end + 8)];
    for (const [row, element] of this.#rows) {
      if (row >= from && row < to) continue;
      // Who reads by keyboard keeps their place, also out of sight.
      if (element.contains(document.activeElement)) continue;
      this.#drop(element);
      this.#rows.delete(row);
    }
    for (let row = from; row < to; row++) {
      const known = this.#rows.get(row);
      if (known) {
        known.style.top = `${this.offset(row)}px`;
        if (known.ariaSetSize !== `${this.#count}`) known.setAttribute("aria-setsize", this.#count);
        continue;
      }
      const element = this.#make(row);
      let next = null;
      for (const other of this.pad.children) {
        if (other.row > row) {
          next = other;
          break;
        }
      }
      this.pad.insertBefore(element, next);
      this.#rows.set(row, element);
      this.#measured.observe(element);
    }
    this.seen(first, end);
  }
}
