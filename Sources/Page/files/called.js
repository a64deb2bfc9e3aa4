// What became of calls, of all conversations.
import { canCall, startCall } from "./callwatch.js";
import { bdi, h, hint } from "./dom.js";
import { calledLines } from "./message.js";
import { conversation } from "./store.js";
import { View, addView, button, choices, rpc } from "./view.js";
import { dayName, t } from "./words.js";

const pageSize = 50;

function card(view, each) {
  const of = conversation(each.conversation);
  return h("div.card", {}, calledLines([each]),
    hint(h("a", { href: `#/c/${each.conversation}` }, bdi(each.name)), ` · ${dayName(each.time)}`),
    of && canCall(of) && choices(button(t("calls.again"), () => view.attempt(() => startCall(of, false)), { "data-key": each.call })));
}

addView(/^#\/calls$/, () => {
  const view = new View(t("calls.title"));
  let shownCount = pageSize;
  view.part(async () => {
    const all = (await rpc("callRecords")).filter(({ outcome }) => outcome !== "replaced").sort((one, other) => other.time - one.time);
    return { calls: all.slice(0, shownCount), isMore: all.length > shownCount };
  }, ({ calls, isMore }) => [
    ...calls.map((each) => card(view, each)), !calls.length && hint(t("calls.none")),
    isMore && choices(button(t("menu.more"), () => ((shownCount += pageSize), view.reread()))),
  ], "calls", "call");
  return view;
});
