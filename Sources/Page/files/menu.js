// What one does with a message: the menu of its row, and what its choices ask the node.
import { pickEmoji } from "./emoji.js";
import { announce, foreign, h } from "./dom.js";
import { noteFailure, store } from "./store.js";
import { ask, button, choices, copy, field, openDialog, passOn, rpc, told, wordsOf } from "./views.js";
import { momentTime, t } from "./words.js";

// MARK: A menu beside something

/**
 * Shows a menu beside an element, or at the lower edge of a small window.
 *
 * @param items of each its words, what it does, the key that does the same, and whether it cannot be undone
 * @param back gives the keyboard back to where it was
 */
export function popupMenu(label, items, anchor, back = () => anchor.focus()) {
  let isOpen = true;
  const close = (chosen) => {
    if (!isOpen) return;
    isOpen = false;
    element.remove();
    back();
    chosen?.();
  };
  const buttons = items.filter(Boolean).map(([words, body, key, isDangerous]) =>
    h("button", { type: "button", role: "menuitem", tabindex: "-1", class: isDangerous ? "fatal" : null, onclick: () => close(body) },
      h("span", {}, words), key && h("kbd", { "aria-hidden": "true" }, key)));
  const element = h("div", { class: "popup", role: "menu", "aria-label": label, popover: "auto", onkeydown: (event) => menuKey(event, buttons, close) }, buttons);
  // Told late, of a press elsewhere alone: by then another menu may have the keyboard.
  element.addEventListener("toggle", (event) => event.newState === "closed" && close());
  document.querySelector("main").append(element);
  element.showPopover();
  place(element, anchor.getBoundingClientRect());
  buttons[0]?.focus();
}

/** Below what it is of, or above where there is more room; never beyond an edge of the window. */
function place(element, at) {
  const { offsetWidth: width, offsetHeight: height } = element;
  const below = at.bottom + height + 8 <= innerHeight || at.top < innerHeight / 2;
  const top = below ? at.bottom + 4 : at.top - height - 4;
  const left = document.dir === "rtl" ? at.left : at.right - width;
  element.style.setProperty("--x", `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`);
  element.style.setProperty("--y", `${Math.max(8, Math.min(top, innerHeight - height - 8))}px`);
}

function menuKey(event, buttons, close) {
  const here = buttons.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  let next = null;
  if (step) next = (here + step + buttons.length) % buttons.length;
  else if (event.key === "Home") next = 0;
  else if (event.key === "End") next = buttons.length - 1;
  else if (event.key === "Tab" || event.key === "Escape") close();
  else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey) {
    const begins = (each) => each.textContent.toLocaleLowerCase().startsWith(event.key.toLocaleLowerCase());
    next = [...buttons.keys()].map((each) => (each + here + 1) % buttons.length).find((each) => begins(buttons[each])) ?? here;
  } else return;
  event.preventDefault();
  event.stopPropagation();
  if (next !== null) buttons[next]?.focus();
}

// MARK: What is done

/**
 * What does whatever is wanted of a message.
 *
 * @param place where one reads it: `reply` and `edit` are given the message, `report` what went wrong
 */
export function actor(place) {
  const act = async (what, message, more, isOn) => {
    const set = (method, params) => rpc(method, { message: message.id, ...params });
    try {
      if (what === "menu") showMenu(message, more, act);
      else if (what === "missed") throw message;
      else if (["reply", "edit"].includes(what)) place[what](message);
      else if (what === "toggle") await set("react", { emoji: more, on: isOn });
      else if (what === "react") await react(message, set);
      else if (what === "pin") await set("pin", { on: !message.isPinned });
      else if (what === "star") await set("star", { on: !message.isStarred });
      else if (what === "copy") await copyText(message);
      else if (what === "forward") forward(message);
      else if (what === "history") await showHistory(message);
      else if (what === "why") await showWhy(message);
      else if (what === "delete") ask(t("message.deleteAsk"), [], t("message.deleteDo"), () => set("delete"), { text: t("menu.deleteText"), isDangerous: true });
    } catch (error) {
      if (noteFailure(error)) return;
      place.report(error.code ? { code: error.code, message: wordsOf(error) } : error);
    }
  };
  return act;
}

const keys = { r: "reply", "+": "react", c: "copy", s: "star", e: "edit", Delete: "delete", m: "menu", Enter: "menu", ContextMenu: "menu" };

/** Does what a key stands for in the row of a message. */
export function rowKey(event, message, row, act) {
  const what = event.shiftKey && event.key === "F10" ? "menu" : keys[event.key];
  const isOfNone = message.number === 0 || message.isDeleted || ((what === "edit" || what === "copy") && typeof message.text !== "string");
  if (!what || isOfNone || (["edit", "delete"].includes(what) && !message.isOwn)) return;
  event.preventDefault();
  act(what, message, row);
}

function showMenu(message, anchor, act) {
  const does = (what) => () => act(what, message);
  const hasText = typeof message.text === "string" && !message.isGoneHere;
  const list = anchor.closest("[role=list]");
  popupMenu(t("message.actions"), [
    [t("message.reply"), does("reply"), "R"],
    [t("message.react"), does("react"), "+"],
    hasText && message.text !== "" && [t("menu.copy"), does("copy"), "C"],
    hasText && [t("menu.forward"), does("forward")],
    [t(message.isPinned ? "menu.unpin" : "menu.pin"), does("pin")],
    [t(message.isStarred ? "menu.unstar" : "menu.star"), does("star"), "S"],
    message.isOwn && !message.isImported && hasText && [t("message.edit"), does("edit"), "E"],
    message.editCount > 0 && [t("menu.history"), does("history")],
    [t(message.isOwn ? "menu.how" : "menu.why"), does("why")],
    message.isOwn && [t("message.delete"), does("delete"), "Del", true],
    // The row may be another element by then.
  ], anchor, () => list?.querySelector(`.row[data-id="${CSS.escape(message.id)}"]`)?.focus({ preventScroll: true }));
}

async function react(message, set) {
  const emoji = await pickEmoji(t("message.react"), (each) => t("message.reactWith", { emoji: each }));
  if (emoji) await set("react", { emoji, on: true });
}

async function copyText({ text }) {
  if (!(await copy(text))) openDialog(t("menu.copy"), ...passOn(text, t("menu.text")));
}

/** Asks where to, and says below what was done: one may choose several. */
function forward(message) {
  const said = h("p", { class: "hint", role: "status" });
  const plain = field("plain", t("forward.plain"), "check", false);
  const list = h("div", { class: "menu forward" });
  const find = h("input", { type: "search", class: "filter", "aria-label": t("forward.find"), placeholder: t("forward.find"), oninput: () => draw() });
  const done = new Set();
  const send = async (to) => {
    try {
      await rpc("forward", { message: message.id, conversation: to.id, withoutOrigin: plain.querySelector("input").checked });
      done.add(to.id);
      said.replaceChildren(...told("forward.done", { name: to.name }));
    } catch (error) {
      if (!noteFailure(error) && !error.code) throw error;
      said.textContent = error.code ? wordsOf(error) : t("view.away");
    }
    draw();
  };
  const draw = () => {
    const words = find.value.trim().toLocaleLowerCase();
    const found = store.conversations.filter((each) => !each.isOut && !each.isInvited && !each.supersededBy && each.name.toLocaleLowerCase().includes(words));
    const held = list.contains(document.activeElement) && document.activeElement.dataset.key;
    list.replaceChildren(...found.slice(0, 100).map((each) =>
      h("button", { type: "button", "data-key": each.id, onclick: () => send(each) }, foreign("bdi", {}, each.name), done.has(each.id) && " ✓")));
    if (!found.length) list.append(h("p", { class: "hint" }, t("app.noneFound")));
    if (held) list.querySelector(`[data-key="${held}"]`)?.focus();
  };
  draw();
  const element = openDialog(t("forward.title"), find, list, plain, said, choices(button(t("view.done"), () => element.close())));
}

/** The texts that a message had, oldest first. */
async function showHistory(message) {
  const list = h("ol", { class: "plain versions" });
  const more = button(t("menu.more"), () => load().catch((error) => !noteFailure(error) && (more.textContent = wordsOf(error))));
  let next = 0;
  const load = async () => {
    const page = await rpc("history", { message: message.id, from: next });
    list.append(...page.versions.map((each) => h("li", { class: "card" },
      h("time", { class: "hint" }, momentTime(each.time)), each.state && h("span", { class: "hint" }, ` · ${t(`history.${each.state}`)}`),
      typeof each.text === "string" ? foreign("p", { class: "description" }, each.text) : h("p", { class: "hint" }, t("message.missing")))));
    next = page.next;
    more.hidden = next === undefined;
  };
  await load();
  const element = openDialog(t("menu.history"), list, choices(more, button(t("view.done"), () => element.close(), { autofocus: true })));
}

/** What is known of a message: who has it, and how that is known. */
async function showWhy(message) {
  const { title, facts } = await rpc("why", { subject: message.id, conversation: message.conversation });
  const element = openDialog(title, h("ul", { class: "plain" }, facts.map((each) => h("li", { class: "card" },
    h("p", {}, foreign("bdi", {}, each.about), " ", foreign("bdi", {}, each.what)),
    h("p", { class: "hint" }, foreign("bdi", {}, each.source), each.since && ` · ${momentTime(each.since)}`)))),
  choices(button(t("view.done"), () => element.close(), { autofocus: true })));
  announce(title);
}
