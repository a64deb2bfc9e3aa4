// What one does with a message: by its keys, by its menu, and what these ask the node.
import { load } from "./api.js";
import { isSaidByOneself } from "./message.js";
import { noteFailure, store } from "./store.js";
import { alone, copy, openDialog, rpc } from "./views.js";
import { t } from "./words.js";

// MARK: What is done

/** What does whatever is wanted of a message; `place` is where one reads it. */
export function actor(place) {
  const act = async (what, message, more, isOn) => {
    const set = (method, params) => rpc(method, { message: message.id, ...params });
    try {
      if (what === "menu") await alone(async () => (await load("./popup.js")).showMenu(message, more, act));
      else if (what === "missed") throw message;
      else if (["reply", "edit", "thread"].includes(what)) place[what](message);
      else if (what === "toggle") await set("react", { emoji: more, on: isOn });
      else if (what === "react") await react(set);
      else if (what === "pin") await set("pin", { on: !message.isPinned });
      else if (what === "star") await set("star", { on: !message.isStarred });
      else if (what === "copy") await copyText(message);
      else if (what !== "delete") await alone(async () => (await load("./about.js"))[what](message));
      else (await load("./view.js")).ask(t("message.deleteAsk"), [], t("message.deleteDo"), () => set("delete"), { text: t("menu.deleteText"), isDangerous: true });
    } catch (error) {
      place.report(error);
    }
  };
  return act;
}

/** Loads what keys of a message open: what is typed next is meant for that. */
export function prepareKeys() {
  for (const path of ["./popup.js", "./emoji.js", "./thread.js", "./about.js"]) load(path).catch(noteFailure);
}

const keys = { r: "reply", t: "thread", "+": "react", c: "copy", s: "star", e: "edit", Delete: "delete", m: "menu", Enter: "menu", ContextMenu: "menu" };

/** What writes something: a device that was revoked does none of it any more. */
const writing = ["reply", "react", "pin", "star", "edit", "delete"];
export const mayWrite = () => !store.status?.isRevoked;

export function rowKey(event, message, row, act) {
  const what = event.shiftKey && event.key === "F10" ? "menu" : keys[event.key];
  const isOfNone = message.number === 0 || message.isDeleted || ((what === "edit" || what === "copy") && typeof message.text !== "string");
  if (!what || isOfNone || (writing.includes(what) && !mayWrite()) || (what === "delete" && !message.isOwn) || (what === "edit" && !isSaidByOneself(message))) return;
  event.preventDefault();
  act(what, message, row);
}

async function react(set) {
  const emoji = await alone(async () => (await load("./emoji.js")).pickEmoji(t("message.react"), (each) => t("message.reactWith", { emoji: each })));
  if (emoji) await set("react", { emoji, on: true });
}

async function copyText({ text }) {
  if (!(await copy(text))) openDialog(t("menu.copy"), ...(await load("./view.js")).passOn(text, t("menu.copy")));
}
