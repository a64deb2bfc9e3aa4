// Search: one field for conversations by their names and for messages by their words and what they mean.
import { load } from "./api.js";
import { bdi, foreign, h, later, note } from "./dom.js";
import { isSaidByOneself } from "./message.js";
import { noteFailure, passOver } from "./store.js";
import { told, rpc } from "./views.js";
import { shortTime, t } from "./words.js";

const step = 20;
const limitMax = 200;
const conditions = ["from:", "in:", "after:", "before:", "has:link", "is:edited"];
/** A condition in what was typed: no conversation is called so. */
export const hasCondition = (text) => /\b(from|in|after|before|has|is):/i.test(text);

export class Search {
  #text = "";
  #reply = null;
  #fault = null;
  #limit = step;
  #asked = 0;

  /** @param changed is called whenever there is something else to show */
  constructor(field, changed) {
    Object.assign(this, { field, changed });
    this.filters = h("p.filters", { role: "group", "aria-label": t("search.filters") }, conditions.map((each) =>
      h("button", { onclick: () => this.insert(each) }, each)));
    addEventListener("keydown", (event) => this.#shortcut(event));
  }

  /** What was typed is another text now. */
  typed() {
    const text = this.field.value.trim();
    if (text === this.#text) return;
    [this.#text, this.#limit] = [text, step];
    if (text) return this.#askSoon();
    this.#asked++;
    this.#reply = this.#fault = null;
  }

  /** Adds a condition to what is looked for. */
  insert(condition) {
    this.#fill(`${this.field.value} ${condition}${condition.endsWith(":") ? "" : " "}`.trimStart());
  }

  /** Looks in one conversation. */
  within({ name, id, resembles }) {
    // Two that are called alike, and names that end a condition early, are told apart by their identifiers.
    this.#fill(resembles?.length || /["“”„]/.test(name) ? `in:${id.slice(0, 12)} ` : `in:"${name}" `);
  }

  #fill(text) {
    this.field.value = text;
    this.#open();
    this.field.dispatchEvent(new Event("input"));
  }

  /** Rows of what was found, for the list. */
  rows() {
    if (!this.#text || (!this.#reply && !this.#fault)) return [];
    if (this.#fault) return [heading(t("search.title")), h("li.hint.none", { role: "status", dir: "auto" }, this.#fault)];
    const { hits, notes, mayHaveMore } = this.#reply;
    return [
      heading(t("search.title"), h("span.hint", { role: "status" }, t("search.found", { n: hits.length, more: mayHaveMore ? "+" : "" }))),
      ...hits.map(row),
      mayHaveMore && this.#limit < limitMax && h("li.none", {}, h("p", {}, h("button", { onclick: () => this.#more() }, t("menu.more")))),
      // What one may do about it is for who sits at a terminal.
      ...notes.map((each) => h("li.hint.none", { dir: "auto" }, each.replace(/ \(parley [^)]*\)/g, ""))),
    ].filter(Boolean);
  }

  #more() {
    this.#limit = Math.min(limitMax, this.#limit * 2);
    this.#ask();
  }

  #askSoon = later(() => this.#ask(), 180);
  #askAgain = later(() => this.#ask(), 1000);

  async #ask() {
    const asked = ++this.#asked;
    const text = this.#text;
    if (!text) return;
    let [reply, fault] = [null, null];
    try {
      reply = await rpc("search", { text, limit: this.#limit, isTyping: true });
    } catch (error) {
      passOver(error);
      fault = error.code ? [error.message, error.hint].filter(Boolean).join(" ") : t("view.away");
    }
    if (asked !== this.#asked) return;
    [this.#reply, this.#fault] = [reply, fault];
    this.changed();
    // While a model is read, or a note says how much is indexed, more is found later.
    if (reply?.semantic === "loading" || reply?.notes.some((each) => /^\d+ % /.test(each))) this.#askAgain();
  }

  /** Shows the field, also where a conversation takes all of the window. */
  #open() {
    if (!this.field.offsetParent) {
      document.body.classList.remove("has-conversation");
      location.hash = "#/";
    }
    this.field.focus();
  }

  #shortcut(event) {
    const isTyped = event.target.closest?.("input, textarea, select, dialog, [role=menu]");
    const isSlash = event.key === "/" && !isTyped && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !document.querySelector("dialog[open]");
    if (event.key === "?" && !isTyped && !event.ctrlKey && !event.metaKey && !event.altKey) load("./keys.js").then(({ showKeys }) => showKeys(), noteFailure);
    if (!isSlash && !isK) return;
    event.preventDefault();
    this.#open();
    this.field.select();
  }
}

const heading = (title, ...more) => h("li.heading", {}, h("h2", {}, title), ...more);

/** What was found in a text, with what is around the first of it. */
function excerpt(pieces) {
  let left = 240;
  return pieces.map(({ text, isMatch }, place) => {
    if (place === 0 && !isMatch && text.length > 60 && pieces.length > 1) return `…${whole(text.slice(-40))}`;
    const shown = whole(text.slice(0, Math.max(0, left)));
    left -= text.length;
    return isMatch && shown ? h("mark", {}, shown) : shown;
  });
}

/** Without half a character at an end. */
const whole = (text) => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");

function row({ message, conversation, reason, pieces }) {
  return messageLink(message, conversation, excerpt(pieces), ["meaning", "reply"].includes(reason) && t(`search.by-${reason}`));
}

/** A line that leads to a message in its place. */
export function messageLink(message, conversation, words, mark) {
  return h("li.hit", { "data-id": message.id },
    h("a", { href: `#/c/${message.conversation}/${message.id}` },
      foreign("span.name", {}, conversation), h("time", {}, shortTime(message.time)),
      h("span.under", {}, ...told("search.said", { name: isSaidByOneself(message) ? t("message.you") : message.author }), " ", bdi(words),
        mark && note(` · ${mark}`))));
}
