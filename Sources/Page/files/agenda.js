// What is to come: messages that are sent later, and reminders.
import { load } from "./api.js";
import { h, later } from "./dom.js";
import { noteFailure, on, passOver } from "./store.js";
import { rpc, told } from "./views.js";
import { lineOf } from "./waiting.js";
import { t } from "./words.js";

let scheduled = [];
let rung = [];
const watchers = new Set();

/** Reads what is to come; `changed` is told whenever that may be otherwise. */
export function watchAgenda(changed) {
  const read = later(async () => {
    try {
      const [messages, reminders] = await Promise.all([rpc("scheduled"), rpc("reminders")]);
      scheduled = messages;
      rung = reminders.filter(({ state }) => state === "rung");
      for (const each of [changed, ...watchers]) each();
    } catch (error) {
      passOver(error);
    }
  }, 90);
  on("event", ({ kind }) => ["preferences", "scheduled", "reminder", "missed"].includes(kind) && read());
  on("connection", (state) => state === "here" && read());
}

/** Lines of the list that say what rang, and what was not sent. */
export function agendaLines() {
  const failed = scheduled.filter(({ state }) => state === "failed").length;
  const [first] = rung;
  return [
    first && lineOf("reminders", "#/reminders", rung.length === 1 && first.text ? told("agenda.rings", { text: first.text }) : t("agenda.ring", { n: rung.length }), rung.length),
    failed > 0 && lineOf("scheduled", "#/scheduled", t("agenda.failed", { n: failed }), failed),
  ].filter(Boolean);
}

/** What waits in a conversation to be sent, above where one writes, and how to end that. */
export function scheduledIn(id) {
  const element = h("div");
  let strip = null;
  let isOver = false;
  const look = async () => {
    if (strip || !scheduled.some((each) => each.conversation === id)) return;
    strip = {};
    try {
      const { stripOf } = await load("./scheduled.js");
      if (!isOver) element.append((strip = stripOf(id)).body);
    } catch (error) {
      strip = null;
      if (!noteFailure(error)) throw error;
    }
  };
  watchers.add(look);
  look();
  return [element, () => ((isOver = true), watchers.delete(look), strip?.close?.())];
}
