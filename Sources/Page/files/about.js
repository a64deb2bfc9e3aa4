// What one asks of a message now and then: where to forward it, its earlier texts, and what is known of it.
import { load } from "./api.js";
import { bdi, foreign, h, hint, note } from "./dom.js";
import { noteFailure, passOver, store } from "./store.js";
import { ask, button, choices, field, openDialog, rpc, told, wordsOf } from "./view.js";
import { momentTime, t } from "./words.js";

/** Asks where to, and says below what was done: one may choose several. */
export function forward(message) {
  const said = h("p.hint", { role: "status" });
  const plain = field("plain", t("forward.plain"), "check", false);
  const list = h("div.menu.forward", {}, store.conversations.filter((each) => !each.isOut && !each.isInvited && !each.supersededBy).map((to) =>
    h("button", { onclick: () => send(to) }, bdi(to.name))));
  const find = h("input", { type: "search", class: "filter", "aria-label": t("search.field"), placeholder: t("search.field"), oninput: () => {
    const words = find.value.trim().toLocaleLowerCase();
    for (const each of list.children) each.hidden = !each.textContent.toLocaleLowerCase().includes(words);
  } });
  const send = async ({ id, name }) => {
    try {
      await rpc("forward", { message: message.id, conversation: id, withoutOrigin: plain.firstChild.checked });
      said.replaceChildren(...told("forward.done", { name }));
    } catch (error) {
      passOver(error);
      said.textContent = error.code ? wordsOf(error) : t("view.away");
    }
  };
  const element = openDialog(t("forward.title"), find, list, plain, said, choices(button(t("view.done"), () => element.close())));
}

/** Deletes a message for this person alone, once they are sure. */
export function forget(message) {
  ask(t("forget.ask"), [], t("message.deleteDo"), () => rpc("deleteForMe", { message: message.id }), { text: t("forget.text"), isDangerous: true });
}

/** Reports a message of a group to its admins, with what one says about it; then says who was told. */
export function report(message) {
  ask(t("report.ask"), [field("words", t("report.words"), "long")], t("report.do"), async ({ words }) => {
    const { told: names } = await rpc("report", { message: message.id, words });
    const element = openDialog(t("report.ask"), h("p", { role: "status", dir: "auto" }, t("report.done", { names: names.join(", ") })),
      choices(button(t("view.done"), () => element.close())));
  }, { text: t("report.text") });
}

/** The earlier texts of a message. */
export async function history(message) {
  const list = h("ol.plain.versions");
  const more = button(t("menu.more"), () => load().catch((error) => !noteFailure(error) && (more.textContent = wordsOf(error))));
  let next = 0;
  const load = async () => {
    const page = await rpc("history", { message: message.id, from: next });
    list.append(...page.versions.map((each) => h("li.card", {},
      h("time.hint", {}, momentTime(each.time)), each.state && note(` · ${t(`history.${each.state}`)}`),
      typeof each.text === "string" ? foreign("p.description", {}, each.text) : hint(t("message.missing")))));
    next = page.next;
    more.hidden = next === undefined;
  };
  await load();
  const element = openDialog(t("menu.history"), list, choices(more, button(t("view.done"), () => element.close(), { autofocus: true })));
}

/** What is known of a message: who has it, and how that is known. */
export async function why(message) {
  const { title, facts } = await rpc("why", { subject: message.id, conversation: message.conversation });
  const element = openDialog(title, h("ul.plain", {}, facts.map((each) => h("li.card", {},
    h("p", {}, bdi(each.about), " ", bdi(each.what)),
    hint(bdi(each.source), each.since && ` · ${momentTime(each.since)}`)))),
  choices(button(t("view.done"), () => element.close(), { autofocus: true })));
}

export const remind = async (message) => (await load("./reminders.js")).remindOf({ message: message.id });

export const decide = async (message) => (await load("./decisions.js")).decide(message);
