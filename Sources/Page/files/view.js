// What views are made of. A part of a view is read anew when something comes that it shows; what one types stands in
// forms and dialogs, which nothing redraws.
import { rpc } from "./api.js";
import { h, icon, later, paths } from "./dom.js";
import { noteFailure, on, store } from "./store.js";
import { button, copy, openDialog, wordsOf } from "./views.js";
import { t } from "./words.js";

export * from "./views.js";

/** A view with a heading; `back` is where one came from. */
export class View {
  #ends = [];
  isClosed = false;

  constructor(title, back = "#/") {
    this.title = title;
    this.heading = h("h1", { tabindex: "-1", dir: "auto" }, title);
    this.fault = h("p.fault", { role: "alert", hidden: true });
    this.body = h("div.parts", {}, this.fault);
    this.ends(on("connection", (state) => state === "here" && this.fault.textContent === t("view.away") && (this.fault.hidden = true)));
    this.element = h("div.view", {},
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
        if (!this.isClosed) redraw(element, [h("p.hint", { dir: "auto" }, wordsOf(error))]);
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

// MARK: What a view is made of

export const choices = (...nodes) => h("p.choices", {}, ...nodes);

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
  if (kind === "check") return h("p.field.check", {}, h("input", { ...attributes, type: "checkbox", checked: value }), h("label", { for: id }, label));
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
  return h("p.field", {}, h("label", { for: id }, label), input);
}

/** A form; `send` is given its values, and whatever the node refuses is said below its fields. */
export function form(fields, label, send, { isDangerous, before } = {}) {
  const fault = h("p.fault", { role: "alert", hidden: true });
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
  }, fields, fault, h("p.choices", {}, before, done));
  return element;
}

/** Asks for values; whoever cancels gives none. */
export function ask(title, fields, label, send, options = {}) {
  const element = openDialog(title, options.text && h("p", { dir: "auto" }, options.text),
    form(fields, label, async (values) => (await send(values), element.close()), {
      ...options, before: button(t("dialog.cancel"), () => element.close()),
    }));
  return element;
}

/** A sentence of the node, with its commands as such. */
export function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? h("code", { dir: "ltr" }, part) : part));
}

/** A long text to pass on. */
export function passOn(text, label) {
  const area = h("textarea.link", { rows: "3", readonly: true, "aria-label": label, dir: "ltr", onfocus: () => area.select() });
  area.value = text;
  const copies = button(t("view.copy"), async () => {
    if (await copy(text)) copies.textContent = t("view.copied");
    else area.focus();
  });
  return [area, choices(copies)];
}

/** Whoever one is, as the node calls one. */
export const ownName = () => store.status?.name ?? "";
