// Messages that are sent later: how one has that done, and what waits for it.
import { announce, bdi, foreign, h, hint } from "./dom.js";
import { View, addView, button, choices, field, rpc, told } from "./view.js";
import { askWhen } from "./when.js";
import { momentTime, shortTime, t } from "./words.js";

const textField = (text) => field("text", t("later.text"), "long", text);

/** Asks when a text is sent; `done` is called once the node has it. */
export function sendLater(of, text, done) {
  return askWhen(told("later.title", { name: of.name }), [textField(text)], t("later.do"), null, async (values) => {
    await rpc("schedule", { conversation: of.id, ...values });
    announce(t("later.at", { time: momentTime(values.time) }));
    done();
  });
}

async function replaced(each, { text, time }) {
  if (text === each.text) return rpc("moveScheduled", { scheduled: each.id, time });
  // The new one comes first: where the node goes between the two, nothing is lost.
  const other = await rpc("schedule", { conversation: each.conversation, text, time });
  try {
    return await rpc("deleteScheduled", { scheduled: each.id });
  } catch (error) {
    // It was sent meanwhile, and is not sent twice.
    if (error.code === "unknown-scheduled") await rpc("deleteScheduled", { scheduled: other.id });
    throw error;
  }
}

function card(view, each, place) {
  const isFailed = each.state === "failed";
  const time = momentTime(each.time);
  const key = (what) => ({ "data-key": `${what} ${each.id}` });
  return h("div.card", {},
    foreign("p.description", {}, each.text),
    h("p", { class: isFailed ? "fault" : "hint" }, t(isFailed ? "later.failed" : "later.at", { time }),
      each.isOrphaned ? [" · ", ...told("later.orphaned", { name: each.device })] : !each.isHere && [" · ", ...told("later.device", { name: each.device })]),
    each.isOutOfReach && hint(told("later.away", { name: each.device })),
    place && each.place && hint(h("a", { href: `#/c/${each.conversation}` }, bdi(each.place))),
    each.mayTake && choices(
      button(t("later.change"), () => askWhen(t("later.changeAsk"), [textField(each.text)], t("view.save"), each.time, async (values) => (await replaced(each, values), view.reread?.())), key("change")),
      view.does(t("later.now"), "sendScheduled", { scheduled: each.id }),
      button(t("later.delete"), () => view.sure(t("later.deleteAsk"), each.text.slice(0, 200), t("later.delete"), "deleteScheduled", { scheduled: each.id }), key("delete"))));
}

const kinds = ["scheduled", "preferences", "devices", "link"];

addView(/^#\/scheduled$/, () => {
  const view = new View(t("later.all"));
  view.part(() => rpc("scheduled"), (all) => (all.length ? all.map((each) => card(view, each, true)) : hint(t("later.none"))), ...kinds);
  return view;
});

/** What waits in a conversation, to be opened: a view without a heading. */
export function stripOf(id) {
  const view = new View("");
  let isOpen = false;
  view.body.classList.add("strip");
  view.part(async () => (await rpc("scheduled")).filter((each) => each.conversation === id), (all) => {
    if (!all.length) return (isOpen = false), [];
    const failed = all.filter(({ state }) => state === "failed").length;
    const words = failed ? t("agenda.failed", { n: failed }) : `${t("later.count", { n: all.length })} · ${shortTime(all[0].time)}`;
    const details = h("details", { open: isOpen, ontoggle: () => (isOpen = details.open) },
      h("summary", { class: failed ? "fault" : null, "data-key": "strip" }, words), ...all.map((each) => card(view, each)));
    return details;
  }, ...kinds);
  return view;
}
