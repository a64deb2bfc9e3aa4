// What holds for this browser alone: the language and the look of the page, and what it tells of.
import { load } from "./api.js";
import { choice, choose } from "./choice.js";
import { h, hint } from "./dom.js";
import { allKept } from "./keep.js";
import { canNotify, isNotifying, watchNotices } from "./notify.js";
import { noteFailure } from "./store.js";
import { button, choices, field, group } from "./view.js";
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
const language = () => chooser("language", t("settings.language"), [["", t("settings.languageBrowser")], ...Object.entries(languages)], () => allKept().then(() => location.reload()));

const theme = () => chooser("theme", t("settings.theme"), ["", "light", "dark"].map((each) => [each, t(`theme.${each || "system"}`)]), (value) => {
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
});

/** The browser asks its person only because they pressed this. */
async function turnOn(redraw) {
  const isAllowed = (await Notification.requestPermission()) === "granted";
  if (isAllowed) choose("notify", "on");
  watchNotices();
  redraw(!isAllowed);
}

function drawNotices(wasRefused, redraw) {
  if (!canNotify()) return [h("p", {}, t("notify.none"))];
  const isOn = isNotifying();
  return [
    h("p", {}, t(isOn ? "notify.on" : "notify.off")),
    isOn && h("div.form", {},
      chooser("notify.which", t("notify.which"), [["", t("notify.which.all")], ["mentions", t("notify.which.mentions")]], () => {}),
      chooser("notify.shows", t("notify.shows"), [["", t("notify.shows.text")], ["name", t("notify.shows.name")], ["nothing", t("notify.shows.nothing")]], () => {})),
    wasRefused && h("p.fault", { role: "alert" }, t("notify.refused")),
    choices(button(t(isOn ? "notify.end" : "notify.begin"), () => (isOn ? (choose("notify", null), redraw(false)) : turnOn(redraw)))),
  ].filter(Boolean);
}

function notices() {
  const element = h("section");
  const redraw = (wasRefused) => {
    const hadFocus = element.contains(document.activeElement);
    element.replaceChildren(...group(t("notify.title"), ...drawNotices(wasRefused, redraw)));
    if (hadFocus) element.querySelector("button").focus();
  };
  redraw(false);
  return element;
}

/** What one chooses for this browser. */
export const hereSettings = () => [
  h("section", {}, group(t("settings.here"), hint(t("settings.hereText")), h("div.form", {}, language(), theme()),
    choices(button(t("keys.title"), () => load("./keys.js").then(({ showKeys }) => showKeys(), noteFailure))))),
  notices(),
];
