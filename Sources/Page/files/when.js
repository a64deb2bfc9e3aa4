// A moment that is to come, as its person chooses it: in the time zone of their browser.
import { Refused } from "./api.js";
import { h, hint } from "./dom.js";
import { ask, button, field } from "./view.js";
import { t } from "./words.js";

const two = (number) => `${number}`.padStart(2, "0");
/** As a field for a day and a time has it. */
const written = (date) => `${`${date.getFullYear()}`.padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;

function inDays(days, hour) {
  const date = new Date();
  date.setDate(date.getDate() + days);
  date.setHours(hour, 0, 0, 0);
  return date;
}

/** What is often chosen, of that what is still to come. */
const often = () => [
  ["when.hour", new Date(Date.now() + 3_600_000)], ["when.evening", inDays(0, 18)], ["when.tomorrow", inDays(1, 9)],
  ["when.monday", inDays((8 - new Date().getDay()) % 7 || 7, 9)],
].filter(([, date]) => date - Date.now() > 60_000);

/** Asks when, and for whatever else these fields are; `send` is given the time in milliseconds. */
export function askWhen(title, fields, label, time, send) {
  const first = new Date(time > Date.now() ? time : Date.now() + 3_600_000);
  const when = field("time", t("when.label"), "datetime-local", written(first), { required: true });
  return ask(title, [...fields, when,
    h("p.choices.often", {}, often().map(([words, date]) => button(t(words), () => (when.lastChild.value = written(date))))),
    hint(t("when.zone", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ") }))],
  label, ({ time: chosen, ...values }) => {
    const moment = new Date(chosen).getTime();
    if (Number.isNaN(moment)) throw new Refused("no-time", t("when.none"));
    return send({ ...values, time: moment });
  });
}
