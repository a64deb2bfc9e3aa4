// Tells of what comes while its person looks elsewhere, where they asked for that and the browser lets the page.
// Of several windows of a browser one tells; what is before the eyes in any of them is not told.
import { choice } from "./choice.js";
import { later } from "./dom.js";
import { conversation, on, store } from "./store.js";
import { count, t } from "./words.js";

const textLengthMax = 200;
const icon = new URL("./icon.svg", import.meta.url).href;
/** What came and was not told yet, by conversation. */
const fresh = new Map();
let isTeller = false;
let isBegun = false;

const worker = () => navigator.serviceWorker.ready;
const shows = () => choice("notify.shows") ?? "text";
const isWatched = () => document.visibilityState === "visible" && document.hasFocus();
const openHere = () => (isWatched() && location.hash.match(/^#\/c\/([0-9a-f]{64})/)?.[1]) || null;

// MARK: What is before the eyes

let held = null;
let release = null;

/** Has all windows of the browser see which conversation is open before the eyes: by a lock of its name. */
function hold() {
  const now = openHere();
  if (now === held) return;
  release?.();
  release = null;
  held = now;
  if (now) navigator.locks.request(`open ${now}`, { mode: "shared" }, () => held === now && new Promise((resolve) => (release = resolve)));
}

async function isOpen(id) {
  return openHere() === id || (await navigator.locks.query()).held.some((each) => each.name === `open ${id}`);
}

// MARK: What is told

function isWanted(message) {
  const of = conversation(message.conversation);
  if (!of || message.isOwn || message.isImported || message.isDeleted || message.isHidden) return false;
  // As the program that the node tells of them: a mention is heard also where one muted the rest.
  if (message.mentionsMe || message.mentionsEveryone) return true;
  return !of.isMuted && (choice("notify.which") !== "mentions" || of.kind === "direct");
}

function wordsOf(of, messages) {
  const last = messages.at(-1);
  if (shows() !== "text" || last.isMissing) return t("notify.new", { n: messages.length });
  const text = (last.text || t(last.files[0]?.isVoice ? "voice.name" : "notify.file")).slice(0, textLengthMax);
  return of.kind === "direct" ? text : t("notify.said", { name: last.author, text });
}

async function tell(id) {
  const messages = [...(fresh.get(id)?.values() ?? [])];
  const of = conversation(id);
  if (!messages.length || !of || !isTeller) return;
  if (await isOpen(id)) return fresh.delete(id);
  const name = messages.length > 1 ? `${of.name} (${count(messages.length)})` : of.name;
  await (await worker()).showNotification(shows() === "nothing" ? "Parley" : name, {
    body: wordsOf(of, messages), tag: id, renotify: true, icon, dir: "auto", data: `#/c/${id}/${messages.at(-1).id}`,
  });
}

const tellers = new Map();
/** What comes at once is told at once. */
function tellSoon(id) {
  if (!tellers.has(id)) tellers.set(id, later(() => tell(id), 250));
  tellers.get(id)();
}

function hear({ kind, isNew, message }) {
  if (!message || !(kind === "mention" || (kind === "message" && isNew)) || !isWanted(message)) return;
  if (!fresh.has(message.conversation)) fresh.set(message.conversation, new Map());
  fresh.get(message.conversation).set(message.id, message);
  tellSoon(message.conversation);
}

/** What rang, and what could not be sent when its time had come. */
async function hearOf({ kind, reminder, scheduled }) {
  const each = reminder ?? scheduled;
  if (!each || !["reminder", "scheduled"].includes(kind) || !isTeller) return;
  const isShown = shows() === "text" && !each.isHidden;
  await (await worker()).showNotification(shows() === "nothing" ? "Parley" : t(`notify.${kind}`), {
    body: isShown ? each.text.slice(0, textLengthMax) : "", tag: `${kind} ${each.id}`, icon, dir: "auto", data: reminder ? "#/reminders" : "#/scheduled",
  });
}

/** What was read, here or on another device, is told no more. */
async function takeBack() {
  const isRead = (id) => /^[0-9a-f]{64}$/.test(id) && !conversation(id)?.unread;
  for (const id of fresh.keys()) if (isRead(id)) fresh.delete(id);
  if (isTeller) for (const each of await (await worker()).getNotifications()) if (isRead(each.tag) && !fresh.has(each.tag)) each.close();
}

async function ring() {
  if (!isTeller) return;
  if (store.isRinging && !isWatched()) {
    const words = shows() === "nothing" ? t("notify.call") : store.notice;
    await (await worker()).showNotification("Parley", { body: words, tag: "call", icon, requireInteraction: true, dir: "auto", data: location.hash });
  } else for (const each of await (await worker()).getNotifications({ tag: "call" })) each.close();
}

// MARK: Beginning and ending

export const canNotify = () => Boolean(globalThis.Notification && navigator.serviceWorker && navigator.locks);
export const isNotifying = () => canNotify() && choice("notify") === "on" && Notification.permission === "granted";

/** Tells from now on what comes, as long as that is wanted. */
export function watchNotices() {
  if (isBegun || !isNotifying()) return;
  isBegun = true;
  navigator.locks.request("notifier", () => ((isTeller = true), new Promise(() => {})));
  const wanted = (body) => (value) => isNotifying() && body(value);
  on("event", wanted(hear));
  on("event", wanted(hearOf));
  on("conversations", wanted(takeBack));
  on("notice", wanted(ring));
  hold();
  for (const kind of ["focus", "blur", "hashchange"]) addEventListener(kind, hold);
  document.addEventListener("visibilitychange", hold);
}
