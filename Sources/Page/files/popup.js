// Menus beside something: that of a message, and others.
import { h } from "./dom.js";
import { mayWrite } from "./menu.js";
import { isSaidByOneself } from "./message.js";
import { conversation } from "./store.js";
import { t } from "./words.js";

/** A menu beside an element: of each item its words, what it does, its key, and whether it cannot be undone. */
export function popupMenu(label, items, anchor, back = () => anchor.focus()) {
  let isOpen = true;
  const close = (chosen) => {
    if (!isOpen) return;
    isOpen = false;
    element.remove();
    back();
    chosen?.();
  };
  // A long menu scrolls in a low window: one of its items is there for the keyboard.
  const buttons = items.filter(Boolean).map(([words, body, key, isDangerous], place) =>
    h("button", { role: "menuitem", tabindex: place ? "-1" : "0", class: isDangerous ? "fatal" : null, onclick: () => close(body) },
      h("span", {}, words), key && h("kbd", { "aria-hidden": "true" }, key)));
  const element = h("div.popup", { role: "menu", "aria-label": label, popover: "auto", onkeydown: (event) => menuKey(event, buttons, close) }, buttons);
  // Told late, of a press elsewhere alone: by then another menu may have the keyboard.
  element.addEventListener("toggle", (event) => event.newState === "closed" && close());
  document.querySelector("main").append(element);
  element.showPopover();
  place(element, anchor.getBoundingClientRect());
  buttons[0]?.focus();
}

/** Below what it is of, and never beyond an edge of the window. */
function place(element, at) {
  const { offsetWidth: width, offsetHeight: height } = element;
  element.style.setProperty("--x", `${Math.max(8, Math.min(at.right, innerWidth - 8) - width)}px`);
  element.style.setProperty("--y", `${Math.max(8, Math.min(at.bottom + 4, innerHeight - height - 8))}px`);
}

function menuKey(event, buttons, close) {
  const here = buttons.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  let next = null;
  if (step) next = (here + step + buttons.length) % buttons.length;
  else if (event.key === "Home") next = 0;
  else if (event.key === "End") next = buttons.length - 1;
  else if (event.key === "Tab" || event.key === "Escape") close();
  else if (event.ctrlKey || event.metaKey || event.key === "Enter" || event.key === " ") return;
  // What stands beside a choice chooses it.
  else buttons.find((each) => each.lastChild.textContent.toLowerCase() === event.key.toLowerCase().slice(0, 3))?.click();
  event.preventDefault();
  event.stopPropagation();
  if (next !== null) buttons[next]?.focus();
}

export function showMenu(message, anchor, act) {
  const does = (what) => () => act(what, message);
  const hasText = typeof message.text === "string" && !message.isGoneHere;
  const list = anchor.closest("[role=list]");
  popupMenu(t("message.actions"), [
    mayWrite() && [t("message.reply"), does("reply"), "R"],
    [t("thread.open"), does("thread"), "T"],
    mayWrite() && [t("message.react"), does("react"), "+"],
    hasText && message.text !== "" && [t("menu.copy"), does("copy"), "C"],
    mayWrite() && hasText && [t("menu.forward"), does("forward")],
    mayWrite() && [t(message.isPinned ? "menu.unpin" : "menu.pin"), does("pin")],
    mayWrite() && [t(message.isStarred ? "menu.unstar" : "menu.star"), does("star"), "S"],
    mayWrite() && [t("menu.remind"), does("remind")],
    mayWrite() && hasText && message.text !== "" && [t("menu.decide"), does("decide")],
    mayWrite() && isSaidByOneself(message) && hasText && [t("message.edit"), does("edit"), "E"],
    message.editCount > 0 && [t("menu.history"), does("history")],
    [t(message.isOwn ? "menu.how" : "menu.why"), does("why")],
    mayWrite() && !message.isOwn && conversation(message.conversation)?.kind === "group" && [t("report.do"), does("report")],
    mayWrite() && [t("forget.do"), does("forget"), null, true],
    mayWrite() && message.isOwn && [t("message.delete"), does("delete"), "Del", true],
    // The row may be another element by then.
  ], anchor, () => list?.querySelector(`.row[data-id="${CSS.escape(message.id)}"]`)?.focus({ preventScroll: true }));
}
