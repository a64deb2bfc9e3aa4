// Mentions: members to choose from where one writes `@`, and where a text mentions somebody.
import { bdi, h, note } from "./dom.js";
import { on, passOver, store } from "./store.js";
import { rpc } from "./views.js";
import { t } from "./words.js";

const everyone = "everyone";
const led = ["aria-haspopup", "aria-autocomplete", "aria-controls", "aria-activedescendant"];
let listCount = 0;

/** Members of a conversation, by its identifier, until somebody comes or goes. */
const members = new Map();
on("event", (change) => ["members", "contact", "missed", "refolded"].includes(change.kind) && members.clear());

function membersOf({ id }) {
  if (!members.has(id)) {
    members.set(id, rpc("group", { conversation: id }).then((found) => found.members.filter((each) => !each.isSelf), (error) => {
      members.delete(id);
      passOver(error);
      return [];
    }));
  }
  return members.get(id);
}

/** A list of who can be mentioned, above a field; the keyboard stays in the field. */
export class MentionList {
  #found = [];
  #at = 0;
  #start = 0;
  #asked = 0;

  constructor(field, of) {
    Object.assign(this, { field, of });
    this.element = h("ul.mention-list", { role: "listbox", id: `mentions-${++listCount}`, "aria-label": t("mentions.choose"), hidden: true });
    field.addEventListener("blur", () => this.#close());
    field.addEventListener("click", () => this.typed());
  }

  /** What stands before the cursor is another text now. */
  async typed() {
    const asked = ++this.#asked;
    const before = this.field.value.slice(0, this.field.selectionStart);
    const begun = before.match(/(?:^|[^\p{L}\p{N}_@])@([^\n@]{0,40})$/u)?.[1];
    if (begun === undefined || this.field.selectionStart !== this.field.selectionEnd) return this.#close();
    const words = begun.toLocaleLowerCase();
    const all = [...(await membersOf(this.of)), ...(this.of.kind === "direct" ? [] : [{ name: everyone, person: "" }])];
    if (asked !== this.#asked || document.activeElement !== this.field) return;
    // First whose name begins so, then those of whom a later part does.
    const place = ({ name }) => ` ${name.toLocaleLowerCase()}`.indexOf(` ${words}`);
    this.#found = all.filter((each) => place(each) >= 0).sort((one, other) => place(one) - place(other)).slice(0, 8);
    if (!this.#found.length || begun.endsWith("  ")) return this.#close();
    [this.#start, this.#at] = [before.length - begun.length, 0];
    this.#show();
  }

  /** True where the key was for the list. */
  key(event) {
    if (this.element.hidden) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.#at = (this.#at + step + this.#found.length) % this.#found.length;
      this.#show();
    } else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#found[this.#at]);
    else if (event.key === "Escape") this.#close();
    else return false;
    event.preventDefault();
    return true;
  }

  #show() {
    const id = this.element.id;
    this.element.replaceChildren(...this.#found.map((each, place) => h("li", {
      role: "option", id: `${id}-${place}`, "aria-selected": String(place === this.#at),
      // The field keeps the keyboard.
      onmousedown: (event) => (event.preventDefault(), this.#take(each)),
    }, bdi(each.name), each.person ? each.isInvited && note(` ${t("group.invited")}`) : note(` ${t("mentions.everyone")}`))));
    this.element.hidden = false;
    // A field of several lines stays one to whoever hears it, with a list that it leads.
    const states = ["listbox", "list", id, `${id}-${this.#at}`];
    led.forEach((name, place) => this.field.setAttribute(name, states[place]));
  }

  #close() {
    this.#asked++;
    if (this.element.hidden) return;
    this.element.hidden = true;
    for (const name of led) this.field.removeAttribute(name);
  }

  #take({ name, person }) {
    // The node reads a name as it is shown; what is quoted there is none, and an identifier means the same.
    const words = /[“”"\n]/.test(name) && person ? person.slice(0, 16) : name;
    this.field.setRangeText(`${words} `, this.#start, this.field.selectionStart, "end");
    this.#close();
    this.field.dispatchEvent(new Event("input"));
    this.#close();
  }
}

// MARK: In a text

const edges = /[\ufdd0-\ufdd2]/g;
const part = /([\ufdd0\ufdd2][^\ufdd0-\ufdd2]*\ufdd1)/;

/** The text of a message, in which noncharacters stand around mentions: no other ones are left in it. */
export function marked({ text, mentions = [], mentionsEveryone }) {
  const plain = text.replace(edges, "\ufffd");
  const places = mentions.filter((each) => each.start !== undefined && each.length > 0).sort((one, other) => one.start - other.start);
  let written = plain;
  if (places.length) {
    // Places are counted in bytes.
    const bytes = new TextEncoder().encode(plain);
    const read = (from, to) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, to));
    let end = 0;
    written = "";
    for (const { start, length, person } of places) {
      if (start < end || start + length > bytes.length) continue;
      written += `${read(end, start)}${person === store.status?.person ? "\ufdd2" : "\ufdd0"}${read(start, start + length)}\ufdd1`;
      end = start + length;
    }
    written += read(end);
  }
  return mentionsEveryone ? written.replace(/(^|[^\p{L}\p{N}_])(@everyone)(?![\p{L}\p{N}_])/giu, "$1\ufdd2$2\ufdd1") : written;
}

/** A text without Markdown as nodes, its mentions marked. */
export function leaf(text) {
  return text.split(part).filter(Boolean).map((each) => {
    const words = each.replace(edges, "");
    return part.test(each) ? h("span", { class: each.startsWith("\ufdd2") ? "mention of-me" : "mention" }, words) : words;
  });
}
