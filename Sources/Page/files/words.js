// What the page says, in the language of its person: that of the browser, or the one they chose. Numbers, lists,
// days and times are written by the browser, as they are where its person lives.
import { choice } from "./choice.js";

/** The languages that there are, as they call themselves. */
export const languages = { en: "English", de: "Deutsch", es: "Español" };

const base = (tag) => tag.split("-")[0].toLowerCase();
const chosen = choice("language");
const language = chosen && Object.hasOwn(languages, chosen) ? chosen : (navigator.languages.map(base).find((each) => Object.hasOwn(languages, each)) ?? "en");
/** The language as it is where the person lives, if their browser says so. */
const locale = navigator.languages.find((each) => base(each) === language) ?? language;

/** The sentences of a module by their names, `part.name`. */
const wordsOf = async (name) => Object.fromEntries(Object.entries((await import(`./${name}.js`)).default)
  .flatMap(([part, words]) => Object.entries(words).map(([key, sentence]) => [`${part}.${key}`, sentence])));
const all = { ...(await wordsOf(language)) };
let later = null;

/** The words of what is opened later, which come with it. */
export const laterWords = () => (later ??= wordsOf(`${language}-later`).then((words) => Object.assign(all, words), (error) => ((later = null), Promise.reject(error))));

document.documentElement.lang = language;
document.documentElement.dir = new Intl.Locale(locale).getTextInfo?.().direction ?? "ltr";

const plural = new Intl.PluralRules(language);
const whole = new Intl.NumberFormat(locale);
const commas = /[,;\u037E\u055D\u060C\u061B\u201A\u3001\uFE50\uFE51\uFE54\uFF0C\uFF1B\uFF64]| and /;
/** A name that has a comma itself would be two in a list. */
const asItem = (name) => (commas.test(name) ? `“${name}”` : name);
const list = new Intl.ListFormat(locale, { type: "unit", style: "short" });

/** A number as its person writes it. */
export const count = (number) => whole.format(number);
/** Several in one line. */
export const listed = (names) => list.format(names.map(asItem));
/** The same in parts, of which those of the type `element` are the names. */
export const listParts = (names) => list.formatToParts(names.map(asItem));

/** The sentence of this name, with what stands in its braces; of several, the one that fits the number `n`. */
export function t(name, values = {}) {
  const sentence = all[`${name}.${typeof values.n === "number" ? plural.select(values.n) : ""}`] ?? all[name];
  if (sentence === undefined) throw new Error(`no words for ${name}`);
  return sentence.replace(/\{(\w+)\}/g, (_, key) => (typeof values[key] === "number" ? count(values[key]) : String(values[key] ?? "")));
}

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const shortDate = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });

// A time that no calendar has is shown as none.
const written = (format, time) => (Math.abs(time) <= 8.64e15 ? format.format(time) : "–");

export const clockTime = (time) => written(clock, time);
export const dayName = (time) => written(day, time);
export const momentTime = (time) => written(moment, time);
export const fullTime = (time) => written(full, time);
export const dayOf = (time) => (Math.abs(time) <= 8.64e15 ? new Date(time).toDateString() : "");
const isThisYear = (time) => new Date(time).getFullYear() === new Date().getFullYear();
/** The time of today, else the day, with its year where it is another one. */
export const shortTime = (time) => (dayOf(time) === dayOf(Date.now()) ? clockTime(time) : written(isThisYear(time) ? shortDay : shortDate, time));

const units = ["byte", "kilobyte", "megabyte", "gigabyte"].map((unit, step) =>
  new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: step ? "short" : "long", maximumFractionDigits: step > 1 ? 1 : 0 }));
/** So many bytes, as people write it. */
export function byteSize(count) {
  const step = Math.min(3, Math.floor(Math.log10(Math.max(count, 1)) / 3));
  return units[step].format(count / 1000 ** step);
}
const share = new Intl.NumberFormat(locale, { style: "percent" });
export const percent = (part) => share.format(Math.floor(part * 100) / 100);
/** So much in the largest unit that fits, with its name as short as it is. */
export const inUnit = (number, unit) => new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: 1 }).format(number);
/** What time it is in a time zone. */
export const timeIn = (timeZone) => new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", timeZone }).format(Date.now());
/** For how long people talked, as commands say it: a second counts once it is over. */
export const callTime = (milliseconds) => playTime(Math.floor(milliseconds / 1000));
/** Seconds as a clock of what plays. */
export function playTime(seconds) {
  const all = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, `${all % 60}`.padStart(2, "0")];
  return hours ? `${hours}:${`${minutes}`.padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
