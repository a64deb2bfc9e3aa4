// The keys of the page, listed.
import { h } from "./dom.js";
import { button, choices, openDialog } from "./view.js";
import { t } from "./words.js";

const places = [
  ["keys.anywhere", [["Ctrl+K", "search.field"], ["/", "search.field"], ["?", "keys.title"], ["F8", "keys.call"]]],
  ["keys.timeline", [
    ["↑ ↓", "keys.move"], ["Home", "keys.first"], ["End", "keys.last"], ["Enter", "message.actions"], ["R", "message.reply"], ["T", "thread.open"],
    ["E", "message.edit"], ["+", "message.react"], ["C", "menu.copy"], ["S", "menu.star"], ["Del", "message.delete"],
  ]],
  ["keys.composer", [["Enter", "composer.send"], ["Shift+Enter", "keys.line"], ["↑", "keys.editLast"], ["@", "keys.mention"], ["Esc", "composer.cancel"]]],
];

/** Shows which there are, and what each does, from the first one on. */
export function showKeys() {
  const element = openDialog(t("keys.title"), ...places.flatMap(([title, keys], place) => [h("h3", { tabindex: "-1", autofocus: place === 0 }, t(title)),
    h("dl.keys", {}, keys.map(([key, words]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, t(words)))))]),
  choices(button(t("view.done"), () => element.close())));
}
