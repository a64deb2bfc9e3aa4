// What holds for this browser alone: the language and the look of the page.
import { choice, choose } from "./choice.js";
import { h } from "./dom.js";
import { field, group } from "./views.js";
import { languages, t } from "./words.js";

/** A choice that holds at once; the value of the first option takes it back. */
function chooser(name, label, options, changed) {
  const element = field(name, label, options, choice(name) ?? "");
  element.querySelector("select").addEventListener("change", ({ target }) => {
    choose(name, target.value || null);
    changed(target.value);
  });
  return element;
}

/** The page in another language is the page anew: what was typed stays. */
const language = () => chooser("language", t("settings.language"), [["", t("settings.languageBrowser")], ...Object.entries(languages)], () => location.reload());

const theme = () => chooser("theme", t("settings.theme"), ["", "light", "dark"].map((each) => [each, t(`theme.${each || "system"}`)]), (value) => {
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
});

/** What one chooses for this browser. */
export const hereSettings = () => h("section", {}, group(t("settings.here"), h("p", { class: "hint" }, t("settings.hereText")), h("div", { class: "form" }, language(), theme())));
