// Lists of messages: pinned, starred, mentions and threads; and the way to a day.
import { h, hint } from "./dom.js";
import { messageLink } from "./search.js";
import { conversation } from "./store.js";
import { View, addView, button, choices, field, rpc, ask } from "./view.js";
import { t } from "./words.js";

const pageSize = 50;
const kinds = ["message", "mention", "receipts", "preferences", "refolded", "conversation"];

function listView(title, back, empty, read) {
  const view = new View(title, back);
  let wanted = pageSize;
  view.part(() => read(wanted), ({ rows, absentCount, next }) => [
    rows.length ? h("ul.messages", {}, rows.map((each) => line(view, each))) : hint(empty),
    absentCount > 0 && hint(t("marked.absent", { n: absentCount })),
    next !== undefined && choices(button(t("menu.more"), () => ((wanted += pageSize), view.reread()))),
  ], ...kinds);
  return view;
}

function line(view, { message, title, note, end, thread }) {
  const words = message.isDeleted ? t("message.deleted") : (message.text ?? t("message.missing"));
  const row = messageLink(message, title, words.slice(0, 600), note);
  if (thread) row.querySelector("a").setAttribute("href", `#/c/${message.conversation}/${thread}/thread`);
  if (end) row.append(view.does(t(end[0]), end[1], { message: message.id, on: false }));
  return row;
}

/** A list that comes in pages, until there are so many of it. */
const paged = (method, drawn, params = {}) => async (wanted) => {
  const all = { rows: [] };
  do {
    const page = await rpc(method, { limit: pageSize, ...params, ...(all.next !== undefined && { from: all.next }) });
    all.rows.push(...page[method].map(drawn));
    [all.next, all.absentCount] = [page.next, page.absentCount];
  } while (all.next !== undefined && all.rows.length < wanted);
  return all;
};

addView(/^#\/stars$/, () => listView(t("stars.title"), "#/", t("stars.none"), paged("stars", (each) => ({ ...each, end: ["menu.unstar", "star"] }))));

addView(/^#\/mentions$/, () => listView(t("mentions.title"), "#/", t("mentions.none"), paged("mentions", ({ isUnread, ...each }) => ({ ...each, note: isUnread && t("timeline.new") }))));

addView(/^#\/pins\/([0-9a-f]{64})$/, (id) => listView(t("pins.title"), `#/c/${id}`, t("pins.none"), async () => {
  const { messages, absentCount } = await rpc("pins", { conversation: id });
  return { absentCount, rows: messages.map((message) => ({ message, title: conversation(id)?.name ?? "", end: ["menu.unpin", "pin"] })) };
}));

addView(/^#\/threads\/([0-9a-f]{64})$/, (id) => listView(t("threads.title"), `#/c/${id}`, t("threads.none"), paged("threads", ({ root, newest, rootID, title, answerCount, unreadCount }) => ({
  message: root ?? newest, title, thread: rootID,
  note: t("thread.answers", { n: answerCount }) + (unreadCount ? ` · ${t("thread.unread", { n: unreadCount })}` : ""),
}), { conversation: id })));

// MARK: A day

/** How many messages stand above the first one of a day or later: times go up along the timeline. */
async function placeOfDay(id, time) {
  const at = async (place) => rpc("messages", { conversation: id, limit: 1, ...(place !== undefined && { from: place }) });
  let [low, high] = [0, (await at()).aboveCount + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [message] = (await at(middle)).messages;
    if (message && message.time < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Asks for a day, and leads to what was said then or next. */
export function askDay({ id }, timeline) {
  let place = null;
  const dialog = ask(t("day.title"), [field("day", t("day.label"), "date")], t("day.go"), async ({ day }) => {
    const time = new Date(`${day}T00:00`).getTime();
    if (!Number.isNaN(time)) place = await placeOfDay(id, time);
  });
  // The dialog gives the keyboard back as it closes: the message is to have it after that.
  dialog.addEventListener("close", () => place !== null && timeline.goToPlace(place));
}
