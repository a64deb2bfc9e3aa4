// What a conversation does together: the views of that lead to each other.
import { h, hint } from "./dom.js";
import { conversation } from "./store.js";
import { View } from "./view.js";
import { t } from "./words.js";

const places = [["assistant", "assistant.title"], ["together", "together.polls"], ["decisions", "decision.all"], ["notes", "note.all"]];

/** A view of what a conversation does together, with the way to the others. */
export function togetherView(id, here) {
  const of = conversation(id);
  const view = new View(of ? of.name : t("together.title"), `#/c/${id}`);
  return view.add(h("p.links", {}, places.map(([place, words]) =>
    h("a", { href: `#/${place}/${id}`, "aria-current": place === here ? "page" : null }, t(words)))));
}

/** What stands where somebody is blocked. */
export const hiddenCard = () => h("div.card", {}, hint(t("message.hidden")));

