// Says that a call is over, and why, until its person does something else or had the time to read it.
import { bdi, h, iconButton, paths } from "./dom.js";
import { told } from "./views.js";
import { t } from "./words.js";

/** How long it stays whatever one does, and how long where one does nothing, in milliseconds. */
const [shownTimeMin, shownTimeMax] = [2000, 15_000];
const kinds = ["pointerdown", "keydown", "hashchange"];

/** A sentence of the node that may begin with one of these names, each in its own direction. */
function named(sentence, names) {
  const [name] = names.filter((each) => each && sentence.startsWith(each)).sort((a, b) => b.length - a.length);
  return name ? [bdi(name), sentence.slice(name.length)] : [sentence];
}

/** Shows why a call is over, in the words of the node; `names` are those that it may begin with. */
export function showOver(reason, names) {
  const began = performance.now();
  const wasFor = (time) => performance.now() - began > time;
  const close = () => {
    for (const kind of kinds) removeEventListener(kind, turnAway, true);
    clearInterval(timer);
    note.remove();
  };
  const isWithin = (target) => target instanceof Node && note.contains(target);
  const turnAway = ({ target }) => wasFor(shownTimeMin) && !isWithin(target) && close();
  const words = reason ? told("call.over", { reason: h("span", {}, named(reason, names)) }) : t("call.overPlain");
  const note = h("p.call-over", { role: "status" }, h("span", {}, words), iconButton(paths.close, t("file.close"), close));
  // What is pointed at is being read.
  const timer = setInterval(() => wasFor(shownTimeMax) && !note.matches(":hover") && !isWithin(document.activeElement) && close(), 250);
  for (const kind of kinds) addEventListener(kind, turnAway, true);
  document.querySelector("main").before(note);
}
