// Views beside the conversations: which there are, and what is said and asked everywhere.
import { load, rpc } from "./api.js";
import { announce, foreign, h, namesOf } from "./dom.js";
import { store } from "./store.js";
import { count, t } from "./words.js";

const known = [];
/** Where the views of an address are. */
const modules = [
  [/^#\/(waiting|people|me|meet|p\/.*)$/, "./people.js"], [/^#\/(group|g\/.*)$/, "./groups.js"],
  [/^#\/(stars|mentions|pins\/.*|threads\/.*)$/, "./marked.js"], [/^#\/together\/.*$/, "./polls.js"], [/^#\/decisions\/.*$/, "./decisions.js"],
  [/^#\/notes?\/.*$/, "./notes.js"], [/^#\/calls$/, "./called.js"], [/^#\/scheduled$/, "./scheduled.js"], [/^#\/reminders$/, "./reminders.js"],
  [/^#\/files\/.*$/, "./gallery.js"], [/^#\/(devices|relays|settings|status)$/, "./settings.js"], [/^#\/(ask|catchup|assistant\/.*)$/, "./assistant.js"],
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
  return names.length > 0 ? h("p.warning", { dir: "auto" }, t("people.resembles"), " ", namesOf(names)) : "";
}

export function button(label, onclick, extra = {}) {
  return h("button", { "data-key": label, onclick, ...extra }, label);
}

// MARK: Dialogs

let dialogCount = 0;

export function openDialog(title, ...children) {
  const heading = h("h2", { id: `dialog-${++dialogCount}`, dir: "auto" }, title);
  const giveBack = keyboardOfRow();
  const element = h("dialog", { "aria-labelledby": heading.id, onclose: () => (element.remove(), giveBack()) }, heading, ...children);
  document.body.append(element);
  element.showModal();
  return element;
}

/** Gives the keyboard back to the message that has it now, where its row became another element meanwhile. */
function keyboardOfRow() {
  const row = document.activeElement?.closest(".row[data-id]");
  const list = row?.closest("[role=list]");
  return () => {
    if (!row || row.isConnected || document.activeElement !== document.body) return;
    list.querySelector(`.row[data-id="${CSS.escape(row.dataset.id)}"]`)?.focus({ preventScroll: true });
  };
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

/** What can be done with something, to choose from. */
export function menu(title, actions) {
  const element = openDialog(title, h("div.menu", {}, actions.filter(Boolean).map(([label, body]) =>
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

export { rpc };
