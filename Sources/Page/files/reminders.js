// What one is to be reminded of.
import { announce, bdi, foreign, h, hint } from "./dom.js";
import { View, addView, button, choices, field, group, rpc, told } from "./view.js";
import { askWhen } from "./when.js";
import { momentTime, t } from "./words.js";

/** Asks when to remind of something: `subject` is a message, or an item, poll or decision. */
export function remindOf(subject) {
  return askWhen(t("remind.title"), [], t("remind.do"), null, async ({ time }) => {
    await rpc("remind", { ...subject, time });
    announce(t("remind.at", { time: momentTime(time) }));
  });
}

/** What a reminder is of, as a request names it. */
async function subjectOf(each) {
  if (!each.subject) return { text: each.text };
  try {
    await rpc("context", { message: each.subject, limit: 1 });
    return { message: each.subject };
  } catch (error) {
    if (!error.code) throw error;
    return { item: each.subject };
  }
}

async function go(each) {
  location.hash = (await subjectOf(each)).message ? `#/c/${each.conversation}/${each.subject}` : `#/together/${each.conversation}`;
}

function again(view, each) {
  return askWhen(t("remind.again"), [], t("remind.do"), each.time, async ({ time }) => {
    await rpc("remind", { ...(await subjectOf(each)), time });
    await rpc("deleteReminder", { reminder: each.id });
    view.reread();
  });
}

function card(view, each) {
  const key = (what) => ({ "data-key": `${what} ${each.id}` });
  const change = (label, done) => view.does(label, "changeReminder", { reminder: each.id, done });
  const words = each.isHidden ? t("message.hidden") : each.isDeleted ? t("message.deleted") : each.text;
  return h("div", { class: `card${each.state === "rung" ? " is-due" : ""}` },
    words ? foreign("p.name.description", {}, words) : hint(t("message.missing")),
    hint(t(each.state === "waiting" ? "remind.at" : "remind.was", { time: momentTime(each.time) }), each.place && [" · ", bdi(each.place)],
      each.state === "waiting" && (each.isOrphaned ? [" · ", ...told("remind.orphaned", { name: each.device })] : !each.isHere && [" · ", ...told("remind.device", { name: each.device })])),
    choices(
      each.subject && !each.isDeleted && button(t("remind.show"), () => view.attempt(() => go(each)), key("show")),
      each.mayTake && each.state !== "done" && change(t("remind.finish"), true),
      each.mayTake && each.state === "waiting" && !each.isHere && change(t("remind.take"), false),
      each.mayTake && !each.isDeleted && button(t(each.state === "waiting" ? "remind.change" : "remind.again"), () => again(view, each), key("again")),
      each.mayTake && view.does(t("remind.delete"), "deleteReminder", { reminder: each.id })));
}

addView(/^#\/reminders$/, () => {
  const view = new View(t("remind.all"));
  view.add(choices(button(t("remind.new"), () => askWhen(t("remind.new"), [field("text", t("remind.text"))], t("remind.do"), null, async (values) => {
    await rpc("remind", values);
    view.reread();
  }), { class: "lead" })), hint(h("a", { href: "#/scheduled" }, t("later.all"))));
  view.part(() => rpc("reminders"), (all) => {
    const of = (title, state) => group(t(title), ...all.filter((each) => each.state === state).map((each) => card(view, each)));
    const parts = [...of("remind.rung", "rung"), ...of("remind.waiting", "waiting"), ...of("remind.done", "done")];
    return parts.length ? parts : hint(t("remind.none"));
  }, "reminder", "preferences", "devices");
  return view;
});
