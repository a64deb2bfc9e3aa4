// One message as elements.
import { bdi, foreign, h, hint, icon, iconButton, isolated, namesOf, paths } from "./dom.js";
import { filesOf } from "./files.js";
import { rendered } from "./markdown.js";
import { marked } from "./mentions.js";
import { conversation, store } from "./store.js";
import { told } from "./views.js";
import { callTime, clockTime, dayName, dayOf, fullTime, listed, t } from "./words.js";

/** As a terminal has them: saved here, with a device of somebody else, read by somebody else. */
const marks = {
  saved: "✓", relayed: "✓∘", delivered: "✓✓", read: "✓✓",
  uninvited: "✓", unaccepted: "✓", earlier: "✓", returned: "✓", unknown: "✓", untold: "✓", stranded: "✓", sending: "…",
};
/** Of these a mark says too little: their words stand below the message. */
const spelled = ["uninvited", "unaccepted", "earlier", "returned", "unknown", "untold", "stranded"];

const stateOf = (message) => (message.isStranded ? "stranded" : message.state);
/** Messages of one person within so many milliseconds stand under one name. */
const turnTime = 5 * 60_000;

/** Whether one said it oneself: what one imported others have said. */
export const isSaidByOneself = (message) => Boolean(message.isOwn && !message.isImported);

/** Whether a message goes on what the one above it began. */
export function goesOn(message, above) {
  return Boolean(
    above && above.author === message.author && above.isOwn === message.isOwn && above.importedBy === message.importedBy && !message.replyToID &&
      dayOf(above.time) === dayOf(message.time) && Math.abs(message.time - above.time) < turnTime,
  );
}

function body(message) {
  if (message.isDeleted) return hint(t("message.deleted"));
  if (message.isGoneHere) return hint(t("message.gone"));
  if (message.isHidden) return hint(t("message.hidden"));
  if (message.isMissing) return hint(t("message.missing"));
  return [message.text !== "" && message.text !== undefined && h("div.text", {}, rendered(marked(message))), filesOf(message)];
}

function quote(message) {
  if (!message.replyToID) return null;
  const { quote } = message;
  if (!quote) return h("p.quote.hint", {}, t("message.quoteGone"));
  return h("p.quote", { "data-to": message.replyToID },
    foreign("bdi.who", {}, quote.author), " ",
    bdi(quote.isDeleted || quote.hasDisappeared ? t(quote.isDeleted ? "message.deleted" : "message.disappeared") : (quote.text ?? t(quote.isHidden ? "message.hidden" : "message.missing"))));
}

/** That its text was changed, and how far the change has come where nobody else is known to have it. */
function editWords(message) {
  const state = message.waiting?.find((each) => each.change === "edit")?.state;
  if (!state) return t("message.edited");
  const key = { relayed: "edited.relayed", unknown: "edited.unknown", untold: "edited.unknown", earlier: "edited", returned: "edited" }[state];
  return t(`message.${key ?? (["stranded", "removed", "revoked", "cut-off"].includes(state) ? "edited.never" : "edited.waits")}`);
}

function notes(message) {
  const notes = [];
  if (message.editCount > 0 && !message.isDeleted) notes.push(editWords(message));
  if (message.isPinned) notes.push(t("message.pinned"));
  if (message.isStarred) notes.push(t("message.starred"));
  if (message.disappears) notes.push(t("message.disappearsAt", { time: fullTime(message.disappears) }));
  else if (message.lifetime) notes.push(t("message.disappears"));
  if (message.isLate) notes.push(t("message.late"));
  if (message.forwardedFrom) notes.push(told("message.forwarded", { name: message.forwardedFrom }));
  else if (message.forwardedFrom === "") notes.push(t("message.forwardedUnknown"));
  if (message.importedBy) notes.push(told("message.imported", { name: message.importedBy }));
  if (message.timeDoubt) notes.push(t(message.timeDoubt === "ahead" ? "message.doubtAhead" : "message.doubtBefore"));
  const state = stateOf(message);
  if (spelled.includes(state)) notes.push(t(`delivery.${state}`));
  // Of what is in no log yet, or is taken by nobody, the node tells in a sentence.
  else if (state && !(state in marks)) notes.push(state);
  return notes.length ? h("p.notes", {}, notes.flatMap((each, place) => [place > 0 && " · ", each].flat())) : null;
}

function delivery(message) {
  const state = stateOf(message);
  if (!state || !(state in marks)) return null;
  const isAlone = state === "saved" && conversation(message.conversation)?.members.length < 2;
  const words = t(isAlone ? "delivery.alone" : `delivery.${state}`);
  return h("span", { class: `delivery is-${state}`, title: words },
    h("span", { "aria-hidden": "true" }, marks[state]), !spelled.includes(state) && h("span.unseen", {}, words));
}

function reactions(message, own, act) {
  if (!message.reactions?.length) return null;
  return h("p.reactions", {}, message.reactions.map((each) => {
    const isOwn = each.names.includes(own);
    return h("button", {
      "aria-pressed": String(isOwn), disabled: Boolean(store.status?.isRevoked), title: listed(each.names.map(isolated)),
      "aria-label": t("message.reacted", { emoji: each.emoji, n: each.count, names: listed(each.names) }),
      onclick: () => act("toggle", message, each.emoji, !isOwn),
    }, bdi(each.emoji), ` ${each.count}`);
  }));
}

function answers(message, thread, act) {
  return thread && h("p.answers", {}, h("button", { onclick: () => act("thread", message) },
    t("thread.answers", { n: thread.answerCount }), thread.unreadCount > 0 && h("span.new", {}, ` · ${t("thread.unread", { n: thread.unreadCount })}`)));
}

function actions(message, act) {
  if (message.number === 0 || message.isDeleted) return null;
  return h("div.actions", { role: "group", "aria-label": t("message.actions") },
    // A device that was revoked writes nothing more.
    !store.status?.isRevoked && [
      iconButton(paths.reply, t("message.reply"), () => act("reply", message), { tabindex: "-1" }),
      iconButton(paths.react, t("message.react"), (event) => act("react", message, event.currentTarget), { tabindex: "-1" }),
    ],
    iconButton(paths.more, t("menu.open"), (event) => act("menu", message, event.currentTarget), { tabindex: "-1", "aria-haspopup": "menu" }));
}

/** What became of calls, a line each; of some there is nothing to say. */
export function calledLines(calls) {
  return calls.map((each) => {
    const what = each.isMissed ? "missed" : each.isDeclined ? "declinedByYou" : each.declinedBy ? "declinedBy" : each.outcome;
    const words = told(`called.${what}`, {
      name: each.isOwn ? h("span", {}, t("called.own")) : each.caller, other: each.declinedBy ?? "",
      others: h("span", {}, namesOf([...(each.wasIn && !each.isOwn ? [t("called.you")] : []), ...each.others])),
      time: h("span", {}, callTime(each.milliseconds)),
    });
    return h("p", { class: `called${each.isMissed ? " is-missed" : ""}` }, icon(paths.phone), h("span", {}, words), " ",
      h("time", { datetime: isoTime(each.time), title: fullTime(each.time) }, clockTime(each.time)));
  });
}

/** A row of calls below all messages. */
export const callsRow = ({ calls }) => h("div.row.calls", { role: "listitem", tabindex: "-1" }, calledLines(calls));

/**
 * The row of a message.
 *
 * @param above the message above it, where that is known
 * @param isFirstUnread whether what is new begins with it
 * @param isFound whether one was led to it just now
 * @param own what one is called in reactions
 * @param calls what became of those right above it
 * @param thread how many answers it has, where that is known
 * @param act is told what the person wants done with it
 */
export function messageRow(message, { above, calls = [], isFirstUnread, isFound, own, act, thread }) {
  const goes = goesOn(message, above) && !isFirstUnread && !calls.length;
  const isNewDay = !above || dayOf(above.time) !== dayOf(message.time);
  const isOfDay = ({ time }) => dayOf(time) === dayOf(message.time);
  const isOwn = isSaidByOneself(message);
  const who = isOwn ? t("message.you") : message.author;
  return h("div", {
    class: `row${goes ? " goes-on" : ""}${isOwn ? " is-own" : ""}${message.mentionsMe ? " mentions" : ""}${isFound ? " is-found" : ""}`,
    role: "listitem", tabindex: "-1", "data-id": message.id,
  },
  ...calledLines(calls.filter((each) => !isOfDay(each))),
  isNewDay && message.number !== 0 && h("p.day", {}, h("span", {}, dayName(message.time))),
  ...calledLines(calls.filter(isOfDay)),
  isFirstUnread && h("p.fresh", {}, h("span", {}, t("timeline.new"))),
  message.missingBefore && h("p.called", {}, h("span", {}, told("message.gap", { name: message.author, n: message.missingBefore }))),
  h("article", {},
    h("header", { class: goes ? "unseen" : "" },
      foreign("span.who", {}, who), " ",
      h("time", { datetime: isoTime(message.time), title: fullTime(message.time) }, clockTime(message.time))),
    h("div.said", {}, quote(message), body(message), notes(message), reactions(message, own, act), answers(message, thread, act)),
    delivery(message),
    actions(message, act)));
}

const isoTime = (time) => (Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : null);

/** What stands where a message is that has not come yet. */
export function placeholderRow() {
  return h("div.row.goes-on.waiting", { role: "listitem" },
    h("article", {}, h("span.unseen", {}, t("timeline.loading")), h("div.said")));
}

