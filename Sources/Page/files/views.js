// Views beside the conversations: which there are, and what they are made of. A part of a view is read anew
// when something comes that it shows; what one types stands in forms and dialogs, which nothing redraws.
import { load, rpc } from "./api.js";
import { announce, foreign, h, icon, later, namesOf, paths } from "./dom.js";
import { noteFailure, on, store } from "./store.js";
import { count, t } from "./words.js";

const known = [];
/** Where the views of an address are. */
const modules = [
  [/^#\/(waiting|people|me|meet|p\/.*)$/, "./people.js"], [/^#\/(group|g\/.*)$/, "./groups.js"],
  [/^#\/(stars|mentions|pins\/.*|threads\/.*)$/, "./marked.js"], [/^#\/together\/.*$/, "./polls.js"], [/^#\/decisions\/.*$/, "./decisions.js"],
  [/^#\/notes?\/.*$/, "./notes.js"], [/^#\/calls$/, "./called.js"], [/^#\/scheduled$/, "./scheduled.js"], [/^#\/reminders$/, "./reminders.js"],
  [/^#\/files\/.*$/, "./gallery.js"], [/^#\/(devices|relays|settings|status)$/, "./settings.js"],
];

/** Notes that what a pattern of the address finds is shown by `open`, which is given what was found. */
export function addView(pattern, open) {
  known.push([pattern, open]);
}

/** Whether an address is one of a view. */
export const isView = (address) => modules.some(([pattern]) => pattern.test(address));

/** The view of an address, open; null where there is none. */
export async function openView(address) {
  await load(modules.find(([pattern]) => pattern.test(address))[1]);
  for (const [pattern, open] of known) {
    const found = address.match(pattern);
    if (found) return open(...found.slice(1));
  }
  return null;
}

/** A view with a heading; `back` is where one came from. */
export class View {
  #ends = [];
  isClosed = false;

  constructor(title, back = "#/") {
    this.title = title;
    this.heading = h("h1", { tabindex: "-1", dir: "auto" }, title);
    this.fault = h("p", { class: "fault", role: "alert", hidden: true });
    this.body = h("div", { class: "parts" }, this.fault);
    this.ends(on("connection", (state) => state === "here" && this.fault.textContent === t("view.away") && (this.fault.hidden = true)));
    this.element = h("div", { class: "view" },
      h("header", {}, h("a", { href: back, class: `back${back === "#/" ? "" : " always"}`, "aria-label": t("view.back") }, icon(paths.back)), this.heading),
      this.body);
  }

  close() {
    this.isClosed = true;
    for (const end of this.#ends) end();
  }

  ends(...bodies) {
    this.#ends.push(...bodies);
  }

  name(title) {
    if (this.title === title) return;
    this.title = title;
    this.heading.textContent = title;
    this.named?.();
  }

  /** Adds what stays as it is. */
  add(...nodes) {
    this.body.append(...nodes.filter(Boolean));
    return this;
  }

  /**
   * Adds a part that is read by `load` and drawn by `draw`, at once and after changes of these kinds.
   * What `load` refuses is said in its place.
   */
  part(load, draw, ...kinds) {
    const element = h("section", { "aria-busy": "true" });
    let last;
    const read = async () => {
      try {
        const found = await load();
        const text = JSON.stringify(found);
        if (this.isClosed || text === last) return;
        last = text;
        redraw(element, draw(found));
        element.removeAttribute("aria-busy");
      } catch (error) {
        if (noteFailure(error)) return;
        if (!error.code) throw error;
        last = undefined;
        if (!this.isClosed) redraw(element, [h("p", { class: "hint", dir: "auto" }, wordsOf(error))]);
      }
    };
    const soon = later(read, 120);
    this.ends(
      on("event", (change) => (kinds.includes(change.kind) || change.kind === "missed") && soon()),
      on("connection", (state) => state === "here" && soon()));
    this.add(element);
    read();
    this.reread = soon;
    return element;
  }

  /** Does something that the person wants; says here why it did not work. True where it did. */
  async attempt(body) {
    this.fault.hidden = true;
    try {
      await body();
      this.reread?.();
      return true;
    } catch (error) {
      if (noteFailure(error)) this.fault.textContent = t("view.away");
      else if (error.code) this.fault.textContent = wordsOf(error);
      else throw error;
      this.fault.hidden = false;
      this.fault.scrollIntoView({ block: "nearest" });
      // What was chosen and not done stands as it was drawn; what somebody fills in is theirs.
      for (const each of this.body.querySelectorAll("section input:not(form input)")) each.checked = each.defaultChecked;
      this.reread?.();
      return false;
    }
  }

  /** A button that asks the node for something. */
  does(label, method, params, extra = {}) {
    return button(label, () => this.attempt(() => rpc(method, params)), { "data-key": `${method} ${JSON.stringify(params)}`, ...extra });
  }

  /** Asks the person for values, and the node for something; whoever cancels gives none. */
  asks(title, fields, label, send, options) {
    return ask(title, fields, label, async (values) => (await send(values), this.reread?.()), options);
  }

  /** Asks the person first whether they mean it. */
  sure(title, text, label, method, params) {
    return this.asks(title, [], label, () => rpc(method, params), { text, isDangerous: true });
  }
}

/** New children, with the keyboard where it was: at what has the same key, or the same place. */
function redraw(element, nodes) {
  const held = element.contains(document.activeElement) ? document.activeElement : null;
  const key = held?.dataset.key;
  const place = held ? [...element.querySelectorAll(reachable)].indexOf(held) : -1;
  element.replaceChildren(...[nodes].flat(2).filter(Boolean));
  if (!held) return;
  const all = [...element.querySelectorAll(reachable)];
  (all.find((each) => key && each.dataset.key === key) ?? all[Math.min(place, all.length - 1)])?.focus({ preventScroll: true });
}
const reachable = "a[href], button:not([disabled]), summary, select, input, textarea";

// MARK: Words

/** Why the node did not do something. Advice that names a command is for who sits at a terminal. */
export function wordsOf(error) {
  const advice = (error.hint ?? "").match(/[^.]+(\.(?=\s|$)|$)/g) ?? [];
  return [error.message, ...advice.filter((each) => !/`|--\w/.test(each)).map((each) => each.trim())].join(" ").trim();
}

/** A name that does not fill a sentence. */
function clipped(name) {
  const marks = [...name];
  return marks.length > 64 ? `${marks.slice(0, 60).join("")}…` : name;
}

/** A sentence as nodes, in which names of others keep their own direction. */
export function told(name, values) {
  const marked = Object.fromEntries(Object.keys(values).map((key) => [key, `\u0001${key}\u0001`]));
  return t(name, marked).split("\u0001").map((part, place) => {
    if (place % 2 === 0) return part;
    const value = values[part];
    return typeof value === "string" ? foreign("bdi", { title: value }, clipped(value)) : value instanceof Node ? value : count(value);
  });
}

/** A sentence of the node, with its commands as such. */
export function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? h("code", { dir: "ltr" }, part) : part));
}

/** A command for this node, and no other one of its machine. */
export function commandHere(words) {
  const home = store.status?.home;
  const quoted = home && (/[^\w/.@-]/.test(home) ? `'${home.replaceAll("'", "'\\''")}'` : home);
  return h("code", { dir: "ltr" }, `${words}${quoted ? ` --home ${quoted}` : ""}`);
}

export const short = (identifier) => identifier.slice(0, 8);

/** Who might be mistaken for whom, as the node quotes them. */
export function lookalikes(names) {
  // The elements of a browser write `false` as a word.
  return names.length > 0 ? h("p", { class: "warning", dir: "auto" }, t("people.resembles"), " ", namesOf(names)) : "";
}

// MARK: What a view is made of

export function button(label, onclick, extra = {}) {
  return h("button", { type: "button", "data-key": label, onclick, ...extra }, label);
}

export const choices = (...nodes) => h("p", { class: "choices" }, ...nodes);

/** A heading, with what stands below it; nothing where there is nothing. */
export function group(title, ...nodes) {
  const shown = nodes.flat().filter(Boolean);
  return shown.length ? [h("h2", {}, title), ...shown] : [];
}

let fieldCount = 0;

/**
 * A field with its label: `kind` is `text`, `long`, `number`, `check`, or the choices as pairs of value
 * and words.
 */
export function field(name, label, kind = "text", value = "", extra = {}) {
  const id = `field-${++fieldCount}`;
  const attributes = { id, name, ...extra };
  if (kind === "check") return h("p", { class: "field check" }, h("input", { ...attributes, type: "checkbox", checked: value }), h("label", { for: id }, label));
  let input;
  if (Array.isArray(kind)) {
    input = h("select", attributes, kind.map(([each, words]) => h("option", { value: each, selected: each === value }, words)));
  } else if (kind === "long") {
    input = h("textarea", { rows: "3", dir: "auto", ...attributes });
    input.value = value;
  } else {
    input = h("input", { type: kind, dir: kind === "text" ? "auto" : null, autocomplete: "off", ...attributes });
    input.value = value;
  }
  return h("p", { class: "field" }, h("label", { for: id }, label), input);
}

/** A form; `send` is given its values, and whatever the node refuses is said below its fields. */
export function form(fields, label, send, { isDangerous, before } = {}) {
  const fault = h("p", { class: "fault", role: "alert", hidden: true });
  const done = h("button", { type: "submit", class: isDangerous ? "strong" : "lead" }, label);
  const element = h("form", {
    class: "form", novalidate: true,
    onsubmit: async (event) => {
      event.preventDefault();
      fault.hidden = true;
      done.disabled = true;
      const values = {};
      for (const input of element.elements) {
        if (!input.name) continue;
        if (input.type !== "checkbox") values[input.name] = input.value.trim();
        else if (input.value === "on") values[input.name] = input.checked;
        else if (input.checked) (values[input.name] ??= []).push(input.value);
      }
      try {
        await send(values);
      } catch (error) {
        if (noteFailure(error)) fault.textContent = t("view.away");
        else if (error.code) fault.textContent = wordsOf(error);
        else throw error;
        fault.hidden = false;
      } finally {
        done.disabled = false;
      }
    },
  }, fields, fault, h("p", { class: "choices" }, before, done));
  return element;
}

// MARK: Dialogs

export function openDialog(title, ...children) {
  const heading = h("h2", { id: `field-${++fieldCount}`, dir: "auto" }, title);
  const element = h("dialog", { "aria-labelledby": heading.id, onclose: () => element.remove() }, heading, ...children);
  document.body.append(element);
  element.showModal();
  return element;
}

let isOpening = false;

/** Opens a dialog that is there in a moment; null where one is on its way: pressed twice, it comes once. */
export async function alone(open) {
  if (isOpening) return null;
  isOpening = true;
  try {
    return await open();
  } finally {
    isOpening = false;
  }
}

/** Asks for values; whoever cancels gives none. */
export function ask(title, fields, label, send, options = {}) {
  const element = openDialog(title, options.text && h("p", { dir: "auto" }, options.text),
    form(fields, label, async (values) => (await send(values), element.close()), {
      ...options, before: button(t("dialog.cancel"), () => element.close()),
    }));
  return element;
}

/** What can be done with something, to choose from. */
export function menu(title, actions) {
  const element = openDialog(title, h("div", { class: "menu" }, actions.filter(Boolean).map(([label, body]) =>
    button(label, () => (element.close(), body())))));
  element.addEventListener("click", (event) => event.target === element && element.close());
}

/** Puts a text where it can be pasted from. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce(t("view.copied"));
    return true;
  } catch {
    // Some browsers ask, and some refuse: the text is there to be selected.
    return false;
  }
}

/** A long text to pass on. */
export function passOn(text, label) {
  const area = h("textarea", { class: "link", rows: "3", readonly: true, "aria-label": label, dir: "ltr", onfocus: () => area.select() });
  area.value = text;
  const copies = button(t("view.copy"), async () => {
    if (await copy(text)) copies.textContent = t("view.copied");
    else area.focus();
  });
  return [area, choices(copies)];
}

/** Whoever one is, as the node calls one. */
export const ownName = () => store.status?.name ?? "";

export { rpc };
