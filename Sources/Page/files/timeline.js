// The messages of one conversation: all of them are in the list, those in sight are fetched.
import { rpc } from "./api.js";
import { announce, h, iconButton, isolated, later, paths } from "./dom.js";
import { VirtualList } from "./list.js";
import { prepareKeys, rowKey } from "./menu.js";
import { callsRow, isSaidByOneself, messageRow, placeholderRow } from "./message.js";
import { keepPage, keptPage, noteFailure, on, refreshConversations, store } from "./store.js";
import { dayName, dayOf, t } from "./words.js";

const pageSize = 60;
const guessedHeight = 58;

export class Timeline {
  #messages = new Map();
  #places = new Map();
  #heights = new Map();
  #kept = [];
  #total = 0;
  #loading = new Set();
  #marked = new Set();
  #toMark = new Map();
  #firstUnread = null;
  #found = null;
  #threads = new Map();
  #calls = new Map();
  #newerCount = 0;
  #tailAsked = null;
  #isClosed = false;
  #hasBegun = false;
  #ends = [];

  /**
   * @param conversation what it is of
   * @param act is told what the person wants done with a message
   * @param outgoing messages that are on their way to the node
   */
  constructor(conversation, act, outgoing) {
    Object.assign(this, { conversation, act, outgoing });
    this.scroller = h("div.scroller", { tabindex: "0", "aria-label": t("timeline.of", { name: conversation.name }), role: "region" });
    this.date = h("p.date-in-sight", { "aria-hidden": "true", hidden: true });
    this.newest = h("button", { class: "newest", hidden: true, onclick: () => this.jumpToNewest() });
    this.element = h("div.timeline", {}, this.scroller, this.date, this.newest);
    this.list = new VirtualList(this.scroller, {
      row: (place) => this.#row(place),
      guess: (place) => this.#heights.get(this.#messages.get(place)?.id) ?? guessedHeight,
      seen: (first, end) => this.#seen(first, end),
    });
    this.scroller.addEventListener("focusin", prepareKeys, { once: true });
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    this.scroller.addEventListener("click", (event) => this.#follow(event));
    const isOurs = (change) => change.conversation === conversation.id;
    const again = later(() => this.#reloadSight(), 150);
    this.#ends = [
      on("change", (change) => {
        if (!isOurs(change)) return;
        if (change.isNew) this.#hear(change.message);
        if (!change.message) again();
        else if (this.#places.has(change.message.id)) this.#replace(change.message);
        else this.tail();
      }),
      // What one marked for oneself is told of no conversation.
      on("event", (change) => change.kind === "preferences" && this.#hasBegun && again()),
      on("reload", (change) => (!change.conversation || isOurs(change)) && this.resync()),
    ];
    this.focused = () => this.#markShown();
    addEventListener("focus", this.focused);
    document.addEventListener("visibilitychange", this.focused);
  }

  #heard = [];

  /** Says to who does not see the page what others write; of much at once how much it is. */
  #hear(message) {
    if (!message || message.isOwn || message.isImported || message.isHidden) return;
    this.#heard.push(message);
    this.#sayHeard();
  }

  #sayHeard = later(() => {
    const [{ author, text }, ...more] = this.#heard.splice(0);
    announce(more.length ? t("timeline.several", { n: more.length + 1 }) : t("search.said", { name: isolated(author) }) + ` ${(text || t("file.attached")).slice(0, 300)}`);
  }, 400);

  close() {
    this.#isClosed = true;
    for (const end of this.#ends) end();
    removeEventListener("focus", this.focused);
    document.removeEventListener("visibilitychange", this.focused);
  }

  /** Shows the message of this identifier, the first one that is not read, or the newest ones. */
  async open(at) {
    const { id, unread } = this.conversation;
    if (at && (await this.goTo(at).catch((error) => this.act("missed", error)))) return;
    const asked = await this.#ask(unread > 0 ? "unread" : "messages", { conversation: id, limit: pageSize });
    const page = asked ?? keptPage(id);
    if (!page || this.#isClosed) return;
    this.#hasBegun = true;
    if (!asked) return this.#start(page), this.list.stick();
    if (unread > 0) this.#firstUnread = page.messages[0]?.id ?? null;
    this.#start(page);
    if (unread > 0) this.list.show(page.aboveCount, 60);
    else this.list.stick();
  }

  /** The newest messages, and what came meanwhile. One question at a time. */
  tail() {
    if (this.#tailAsked) {
      this.#tailAsked.again = true;
      return this.#tailAsked.done;
    }
    const asked = { again: false };
    this.#tailAsked = asked;
    asked.done = (async () => {
      do {
        // What is being sent is shown as such until its answer is here.
        await this.outgoing.answered();
        asked.again = false;
        const sent = this.outgoing.sent();
        const page = await this.#ask("messages", { conversation: this.conversation.id, limit: pageSize });
        if (page) await this.#mergeTail(page, [...sent, ...(await this.outgoing.in(page))]);
      } while (asked.again && !this.#isClosed);
      this.#tailAsked = null;
    })();
    return asked.done;
  }

  /** All may be otherwise: what is read stays where it is. */
  async resync() {
    if (!this.#hasBegun) return this.open();
    const { row, offset } = this.list.anchor;
    const anchor = this.#messages.get(row)?.id;
    const { sticks } = this.list;
    await this.outgoing.answered();
    const sent = this.outgoing.sent();
    const newest = await this.#ask("messages", { conversation: this.conversation.id, limit: pageSize });
    if (!newest) return;
    sent.push(...(await this.outgoing.in(newest)));
    if (sticks) {
      this.outgoing.forget(sent);
      this.#start(newest);
      return this.list.stick();
    }
    const change = Math.abs(whole(newest) - this.#total);
    const page = await this.#ask("messages", {
      conversation: this.conversation.id, from: Math.max(0, row - pageSize / 2 - Math.min(change, 60)), limit: 200,
    });
    if (!page) return;
    this.outgoing.forget(sent);
    this.#start(newest, page);
    this.list.show(this.#places.get(anchor) ?? row, -offset);
  }

  /** Shows a message with what stands around it. True where it did: it may be of another conversation. */
  async goTo(id) {
    if (!this.#places.has(id)) {
      const page = (await this.#ask("context", { message: id, limit: pageSize }))?.page;
      if (page?.messages[0]?.conversation !== this.conversation.id) return false;
      this.#take(page);
    }
    this.#found = id;
    this.#forgetFound();
    const place = this.#places.get(id);
    if (place === undefined) return false;
    this.list.show(place, Math.min(160, this.scroller.clientHeight / 3));
    this.list.refresh([place]);
    this.list.rowElement(place)?.focus({ preventScroll: true });
    return true;
  }

  /** Shows what so many messages stand above. */
  async goToPlace(from) {
    const page = await this.#ask("messages", { conversation: this.conversation.id, from, limit: pageSize });
    if (!page?.messages.length) return;
    this.#take(page);
    await this.goTo(page.messages[0].id);
  }

  /** Where all of it may be otherwise, what is not in the page is asked for anew. */
  #take(page) {
    const isSame = this.#hasBegun && whole(page) === this.#total;
    this.#hasBegun = true;
    if (isSame) this.list.refresh(new Set(this.#put(page)));
    else this.#start(page);
  }

  /** Notes how many answers messages have, by their identifiers. */
  setThreads(threads) {
    const before = this.#threads;
    this.#threads = new Map(threads);
    const words = (each) => each && `${each.answerCount} ${each.unreadCount}`;
    this.list.refresh([...threads].filter(([id, each]) => words(each) !== words(before.get(id))).map(([id]) => this.#places.get(id)));
  }

  /** Notes what became of calls, by the message right below each; by nothing where they stand below all. */
  setCalls(calls) {
    const before = this.#calls;
    this.#calls = calls;
    const words = (found, id) => JSON.stringify(found.get(id));
    const changed = [...before.keys(), ...calls.keys()].filter((id) => words(before, id) !== words(calls, id));
    this.list.grow(this.#count());
    this.list.refresh(new Set([...changed.map((id) => this.#places.get(id)), ...range(this.#total, this.#count())]));
    this.scroller.classList.toggle("is-empty", this.#count() === 0);
  }

  /** Calls below all messages, as one row; null where there are none. */
  #callsBelow() {
    const calls = this.#hasBegun && this.#calls.get("");
    return calls ? { number: 0, id: "", calls, time: calls.at(-1).time } : null;
  }

  /** Gives the keyboard to a message, where it is in sight. */
  focusOn(id) {
    const row = this.list.rowElement(this.#places.get(id));
    (row ?? this.scroller).focus({ preventScroll: true });
  }

  #forgetFound = later(() => (this.#found = null), 3000);

  async jumpToNewest() {
    this.list.stick();
    await this.tail();
    this.list.stick();
    this.#newerCount = 0;
    this.#showNewest();
    this.scroller.focus({ preventScroll: true });
  }

  /** What is on its way to the node has changed. */
  waitingChanged() {
    this.list.grow(this.#count());
    this.list.refresh(range(this.#total, this.#count()));
  }

  /** The last message of one's own that can be edited. */
  lastOwn() {
    for (let place = this.#total - 1; place >= Math.max(0, this.#total - 200); place--) {
      const message = this.#messages.get(place);
      if (message && isSaidByOneself(message) && !message.isDeleted && message.text) return message;
    }
    return null;
  }

  #count() {
    return this.#total + this.#kept.length + (this.#callsBelow() ? 1 : 0) + this.outgoing.all().length;
  }

  async #ask(method, params) {
    try {
      const answer = await rpc(method, params);
      if (["messages", "unread"].includes(method) && answer.belowCount === 0) keepPage(params.conversation, answer);
      return this.#isClosed ? null : answer;
    } catch (error) {
      if (noteFailure(error)) return null;
      throw error;
    }
  }

  #start(...pages) {
    for (const element of this.scroller.querySelectorAll(".row")) this.#remember(element);
    this.#messages.clear();
    this.#places.clear();
    this.#loading.clear();
    const [page] = pages;
    this.#total = whole(page);
    this.#kept = page.belowCount === 0 ? page.messages.filter((each) => each.number === 0) : [];
    for (const each of pages) this.#put(each);
    this.list.reset(this.#count());
    this.scroller.classList.toggle("is-empty", this.#count() === 0);
  }

  #remember(element) {
    if (element.dataset.id) this.#heights.set(element.dataset.id, element.offsetHeight);
  }

  /** Notes the messages of a page; returns the places that look different now. */
  #put(page) {
    const changed = [];
    numbered(page).forEach((message, index) => {
      const place = page.aboveCount + index;
      const known = this.#messages.get(place);
      message.last = page.last;
      if (known && same(known, message)) return;
      if (known && known.id !== message.id) this.#places.delete(known.id);
      this.#messages.set(place, message);
      this.#places.set(message.id, place);
      changed.push(place, place + 1);
    });
    return changed;
  }

  async #mergeTail(page, sent) {
    if (!this.#hasBegun) return;
    const total = whole(page);
    const added = total - this.#total;
    const agrees = added >= 0 && numbered(page).every((message, index) => {
      const place = page.aboveCount + index;
      const known = this.#messages.get(place);
      const elsewhere = this.#places.get(message.id);
      return place < this.#total ? !known || known.id === message.id : elsewhere === undefined;
    });
    if (!agrees || page.aboveCount > this.#total) return this.resync();
    this.outgoing.forget(sent);
    this.#total = total;
    this.#kept = page.messages.filter((each) => each.number === 0);
    const changed = this.#put(page);
    if (!this.list.sticks) this.#newerCount += numbered(page).slice(-added || Infinity).filter((each) => !each.isOwn).length;
    this.list.grow(this.#count());
    this.list.refresh(new Set([...changed, ...range(this.#total, this.#count())]));
    this.scroller.classList.toggle("is-empty", this.#count() === 0);
    this.#showNewest();
  }

  #replace(message) {
    const place = this.#places.get(message.id);
    this.#messages.set(place, message);
    this.list.refresh([place, place + 1]);
    this.#markShown();
  }

  async #load(from) {
    if (this.#loading.has(from)) return;
    this.#loading.add(from);
    const page = await this.#ask("messages", { conversation: this.conversation.id, from, limit: pageSize });
    this.#loading.delete(from);
    if (!page) return;
    const total = whole(page);
    if (total !== this.#total) return this.tail();
    this.list.refresh(new Set(this.#put(page)));
    this.#seenAgain();
    // A page ends early where its messages are long: the next part is asked for once it is in sight.
  }

  async #reloadSight() {
    const { row } = this.list.anchor;
    const page = await this.#ask("messages", {
      conversation: this.conversation.id, from: Math.max(0, Math.min(row, this.#total - pageSize)), limit: pageSize,
    });
    if (page && whole(page) === this.#total) {
      this.list.refresh(new Set(this.#put(page)));
      this.#kept = page.belowCount === 0 ? page.messages.filter((each) => each.number === 0) : this.#kept;
      this.list.grow(this.#count());
    } else if (page) await this.tail();
  }

  #at(place) {
    if (place < this.#total) return this.#messages.get(place);
    const index = place - this.#total;
    const others = [...this.#kept, this.#callsBelow(), ...this.outgoing.all()].filter(Boolean);
    return others[index];
  }

  #row(place) {
    const message = this.#at(place);
    if (!message) return placeholderRow();
    if (message.calls) return callsRow(message);
    return messageRow(message, {
      calls: this.#calls.get(message.id),
      above: place > 0 ? (this.#at(place - 1) ?? message) : null,
      isFirstUnread: message.id !== "" && message.id === this.#firstUnread,
      isFound: message.id !== "" && message.id === this.#found,
      own: store.status?.name, act: this.act, thread: this.#threads.get(message.id),
    });
  }

  #seen(first, end) {
    this.sight = [first, end];
    if (!this.#hasBegun) return;
    for (let place = Math.max(0, first - 10); place < Math.min(this.#total, end + 10); place++) {
      if (!this.#messages.has(place)) {
        // Upwards what is above comes along, downwards what is below.
        const from = this.#messages.has(place - 1) || place < first ? place : Math.max(0, place - 5);
        this.#loadSoon(from);
        break;
      }
    }
    this.#showDate(first);
    if (this.list?.sticks) this.#newerCount = 0;
    this.#showNewest();
    this.#markShown();
  }

  #loadSoon = later((from) => this.#load(from), 30);

  #seenAgain() {
    this.#seen(...this.sight);
  }

  #hideDate = later(() => (this.date.hidden = true), 1200);

  #showDate(first) {
    const message = this.#messages.get(first);
    // At the first message of a day its heading says it.
    if (!message || this.list.sticks || dayOf(this.#messages.get(first - 1)?.time ?? NaN) !== dayOf(message.time)) return;
    this.date.textContent = dayName(message.time);
    this.date.hidden = false;
    this.#hideDate();
  }

  #showNewest() {
    const isHidden = this.list.sticks || this.scroller.scrollHeight <= this.scroller.clientHeight + 4;
    this.newest.hidden = isHidden;
    if (isHidden) return;
    const label = this.#newerCount ? t("timeline.more", { n: this.#newerCount }) : t("timeline.newest");
    if (this.newest.dataset.label === label) return;
    this.newest.dataset.label = label;
    this.newest.replaceChildren(iconButton(paths.down, label).firstChild, h("span", {}, label));
  }

  /** Tells the node what stood before the person's eyes, and nothing else. */
  #markShown() {
    // A device that was revoked tells nobody any more what is read there.
    if (!this.sight || document.visibilityState !== "visible" || !document.hasFocus() || store.status?.isRevoked) return;
    // A thread over it covers all of it.
    if (getComputedStyle(this.scroller).visibility !== "visible") return;
    const [first, end] = this.sight;
    for (let place = first; place < end; place++) {
      const message = this.#messages.get(place);
      if (!message || message.isOwn) continue;
      const key = `${message.id} ${message.editCount}`;
      if (this.#marked.has(key) || this.#toMark.has(key)) continue;
      this.#toMark.set(key, message);
    }
    if (this.#toMark.size) this.#sendMarks();
  }

  #sendMarks = later(async () => {
    const marks = [...this.#toMark].slice(0, 200);
    if (!marks.length || this.#isClosed) return;
    for (const [key] of marks) {
      this.#toMark.delete(key);
      this.#marked.add(key);
    }
    const lasts = marks.map(([, message]) => message.last).filter((last) => last !== undefined);
    const params = { conversation: this.conversation.id, messages: marks.map(([, message]) => message.id) };
    if (lasts.length) params.last = Math.min(...lasts);
    // What the node does not note is no concern of who reads: it says elsewhere why.
    const count = await this.#ask("markRead", params).catch((error) => (error.code ? 0 : Promise.reject(error)));
    if (count === null) for (const [key] of marks) this.#marked.delete(key);
    else if (count > 0) refreshConversations();
  }, 250);

  #follow(event) {
    const to = event.target.closest?.("[data-to]")?.dataset.to;
    if (to) this.goTo(to).catch((error) => this.act("missed", error));
  }

  #key(event) {
    if (event.target.closest("button, a, textarea, input") || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const row = event.target.closest?.(".row");
    if (event.key === "End") return event.preventDefault(), this.jumpToNewest();
    if (event.key === "Home") return event.preventDefault(), this.list.show(0);
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step) {
      event.preventDefault();
      return this.#moveTo(row ? row.row + step : this.sight[1] - 1);
    }
    const message = row && this.#at(row.row);
    if (message) rowKey(event, message, row, this.act);
  }

  #moveTo(place) {
    if (place < 0 || place >= this.#count()) return;
    if (!this.list.rowElement(place)) this.list.show(place, 80);
    const row = this.list.rowElement(place);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  }
}

/** How many messages the conversation has, of which this is a page. */
const whole = (page) => page.aboveCount + numbered(page).length + page.belowCount;
const numbered = (page) => page.messages.filter((message) => message.number !== 0);
const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

function same(one, other) {
  const plain = ({ last, ...rest }) => rest;
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}
