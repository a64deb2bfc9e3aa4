// A thread beside the timeline.
import { leftover } from "./composer.js";
import { h, icon, iconButton, later, loadStyle, paths } from "./dom.js";
import { MentionList } from "./mentions.js";
import { rowKey } from "./menu.js";
import { messageRow } from "./message.js";
import { noteTyped, typedIn } from "./outbox.js";
import { on, passOver, store } from "./store.js";
import { rpc, wordsOf } from "./views.js";
import { t } from "./words.js";

await loadStyle("./thread.css");

export class ThreadPanel {
  #root;
  #answers = [];
  #cursor;
  #last;
  #drawn = "";
  #once = null;
  #seen = new Set();
  /** Each press is one page more, also where the one before has not come yet. */
  #turn = Promise.resolve();
  #ends;

  /**
   * @param at the message that it begins with, or any answer
   * @param place `act` does what is wanted of a message, `close` ends the panel
   */
  constructor(of, at, place) {
    Object.assign(this, { of, at, place });
    this.list = h("div", { role: "list" });
    this.older = h("button", { hidden: true, onclick: () => (this.#turn = this.#turn.then(() => this.#readOlder())) }, t("thread.older"));
    this.scroller = h("div.thread-scroller", { tabindex: "0", role: "region", "aria-label": t("thread.title") }, this.older, this.list);
    this.field = h("textarea", {
      rows: "2", dir: "auto", "aria-label": t("thread.write"), placeholder: t("thread.write"),
      oninput: () => (noteTyped(this.at, this.field.value), this.mentions.typed()), onkeydown: (event) => this.#writingKey(event),
    });
    this.field.value = typedIn(at) ?? "";
    this.isOver = Boolean(of.isOut || of.isInvited || of.mayWrite === false || store.status?.isRevoked);
    this.field.readOnly = this.isOver;
    this.mentions = new MentionList(this.field, of);
    this.fault = h("p.fault", { role: "alert", hidden: true });
    this.count = h("p.hint", { role: "status" });
    this.form = h("form.composer", { hidden: this.isOver && !this.field.value, onsubmit: (event) => (event.preventDefault(), this.#send()) }, this.mentions.element, this.fault,
      h("div.line", {}, this.isOver ? leftover(this.field) : [this.field, h("button", { type: "submit", "aria-label": t("composer.send"), title: t("composer.send") }, icon(paths.send))]));
    this.element = h("aside.thread", { "aria-label": t("thread.title"), onkeydown: (event) => this.#key(event) },
      h("header", {}, h("h1", {}, t("thread.title")), this.count, h("a", { href: `#/assistant/${of.id}/${at}`, class: "hint" }, t("assistant.title")), iconButton(paths.close, t("file.close"), place.close)), this.scroller, this.form);
    this.sight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.#seen[isIntersecting ? "add" : "delete"](target.message.id);
      this.#markSoon();
    }, { root: this.scroller, threshold: 0.5 });
    addEventListener("focus", this.#markSoon);
    const again = later(() => this.read(), 150);
    this.#ends = [
      on("event", (change) => (change.conversation === of.id || ["preferences", "missed"].includes(change.kind)) && again()),
      on("connection", (state) => state === "here" && again()),
    ];
  }

  close() {
    for (const end of this.#ends) end();
    removeEventListener("focus", this.#markSoon);
    this.sight.disconnect();
    this.element.remove();
  }

  /** The newest answers; what stands above them stays. */
  async read() {
    const page = await this.#ask({});
    if (!page) return;
    const above = this.#answers.findIndex((each) => each.id === page.answers[0]?.id);
    if (above <= 0) this.#cursor = page.cursor;
    this.#root = page.root;
    this.#beginAt(page.rootID);
    this.#answers = [...this.#answers.slice(0, Math.max(0, above)), ...page.answers];
    this.#show(page);
  }

  /** What one types is kept by the message that all of it answers, whichever answer one came by. */
  #beginAt(id) {
    if (id === this.at) return;
    if (this.field.value) noteTyped(this.at, ""), noteTyped(id, this.field.value);
    else this.field.value = typedIn(id) ?? "";
    this.at = id;
    this.form.hidden = this.isOver && !this.field.value;
  }

  async #readOlder() {
    const before = this.#cursor;
    const page = await this.#ask({ before });
    if (!page || before !== this.#cursor) return;
    this.#cursor = page.cursor;
    this.#answers.unshift(...page.answers);
    const below = this.scroller.scrollHeight - this.scroller.scrollTop;
    this.#show(page);
    this.scroller.scrollTop = this.scroller.scrollHeight - below;
  }

  async #ask(params) {
    try {
      const page = await rpc("thread", { message: this.at, limit: 60, ...params });
      return this.element.isConnected ? page : null;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #show({ rootID, answerCount, last }) {
    this.#last = last;
    this.older.hidden = !this.#cursor;
    this.count.textContent = t("thread.answers", { n: answerCount });
    const messages = [this.#root, ...this.#answers].filter(Boolean);
    const drawn = JSON.stringify(messages);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const isAtEnd = this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - 8;
    const held = this.list.contains(document.activeElement) && document.activeElement.closest(".row").dataset.id;
    this.sight.disconnect();
    this.list.replaceChildren(...(this.#root ? [] : [h("p.hint.is-root", { role: "listitem" }, t("message.quoteGone"))]), ...messages.map((message, place) => {
      // What all of it answers is said once, above.
      const shown = { ...message, replyToID: message.replyToID === rootID ? undefined : message.replyToID };
      const row = messageRow(shown, { above: messages[place - 1] ?? null, own: store.status?.name, act: this.place.act });
      row.message = message;
      row.classList.toggle("is-root", message.id === rootID);
      if (!message.isOwn) this.sight.observe(row);
      return row;
    }));
    if (isAtEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
    if (held) this.list.querySelector(`[data-id="${held}"]`)?.focus({ preventScroll: true });
  }

  /** Tells the node what stood before the person's eyes. */
  #markSoon = later(() => {
    if (document.visibilityState !== "visible" || !document.hasFocus() || !this.#seen.size || store.status?.isRevoked) return;
    rpc("markRead", { conversation: this.of.id, messages: [...this.#seen].slice(-200), last: this.#last }).catch((error) => this.#fail(error));
  }, 250);

  #key(event) {
    if (event.defaultPrevented) return;
    if (event.key === "Escape") return event.preventDefault(), this.place.close();
    if (event.target.closest("button, a, textarea, input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest(".row");
    const rows = [...this.list.querySelectorAll(".row")];
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (row && !step) return rowKey(event, row.message, row, this.place.act);
    if (!step) return;
    event.preventDefault();
    (row ? rows[rows.indexOf(row) + step] : rows.at(-1))?.focus();
  }

  #writingKey(event) {
    if (event.isComposing || this.mentions.key(event) || event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    this.#send();
  }

  #fail(error) {
    passOver(error);
    this.fault.textContent = error.code ? t("error.failed", { reason: wordsOf(error) }) : t("view.away");
    this.fault.hidden = false;
  }

  /** What is typed stays in the field until the node has it; asked again, it is written once. */
  async #send() {
    const text = this.field.value.trim();
    if (!text || this.field.readOnly) return;
    if (this.#once?.text !== text) this.#once = { text, name: crypto.randomUUID() };
    this.field.readOnly = true;
    try {
      await rpc("send", { conversation: this.of.id, texts: [text], thread: this.at, once: this.#once.name });
      this.#once = null;
      this.field.value = "";
      noteTyped(this.at, "");
      this.fault.hidden = true;
      await this.read();
      this.scroller.scrollTop = this.scroller.scrollHeight;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.field.readOnly = false;
    }
  }
}
