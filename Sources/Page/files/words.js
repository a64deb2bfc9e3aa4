// What the page says. Numbers, days and times are written by the browser, as its person reads them.

const en = {
  "app.conversations": "Conversations",
  "app.find": "Find a conversation",
  "app.none": "No conversation yet.",
  "app.noneFound": "None is called so.",
  "app.choose": "Choose a conversation.",
  "app.back": "Back to the list",
  "app.leave": "Close this session",
  "state.away": "The node is away. What you write stays here until it is back.",
  "state.back": "The node is back.",
  "state.locked": "This browser is not let in.",
  "state.lockedHow": "Say this in a terminal of this machine, and open the link that it makes:",
  "state.linkOver": "That link was used already, or is older than a minute.",
  "list.unread": "{n} unread",
  "list.mentions": "you are mentioned",
  "list.draft": "Draft:",
  "list.muted": "muted",
  "list.archive": "Archive",
  "timeline.of": "Messages in {name}",
  "timeline.new": "New",
  "timeline.newest": "Jump to the newest",
  "timeline.more": "{n} newer",
  "timeline.empty": "Nothing was said here yet.",
  "timeline.loading": "Loading",
  "message.you": "You",
  "message.deleted": "Deleted",
  "message.missing": "Its text has not arrived.",
  "message.gone": "Its text is gone on this device.",
  "message.edited": "edited",
  "message.late": "came late",
  "message.forwarded": "Forwarded from {name}",
  "message.forwardedUnknown": "Forwarded",
  "message.imported": "Brought in by {name}",
  "message.doubtAhead": "The clock that wrote this is ahead.",
  "message.doubtBefore": "The clock that wrote this is behind.",
  "message.answers": "Answer to {name}: {text}",
  "message.quoteGone": "a message that is not here",
  "message.reply": "Reply",
  "message.react": "React",
  "message.edit": "Edit",
  "message.delete": "Delete for everyone",
  "message.deleteAsk": "Delete this message for everyone?",
  "message.deleteDo": "Delete",
  "message.reactWith": "React with {emoji}",
  "message.reacted": "{emoji}, {n}: {names}",
  "message.file": "File: {name}",
  "message.actions": "What to do with the message",
  "delivery.saved": "Saved here, not sent yet",
  "delivery.relayed": "On a relay",
  "delivery.delivered": "Delivered",
  "delivery.read": "Read",
  "delivery.sending": "Sending",
  "composer.write": "Write to {name}",
  "composer.send": "Send",
  "composer.save": "Save",
  "composer.cancel": "Cancel",
  "composer.replying": "Answer to {name}",
  "composer.editing": "Edit",
  "composer.tooLong": "That is {n} bytes too long.",
  "dialog.cancel": "Cancel",
  "error.failed": "That did not work: {reason}",
};

/** The sentence of this name, with what stands in its braces. */
export function t(name, values = {}) {
  const sentence = en[name];
  if (sentence === undefined) throw new Error(`no words for ${name}`);
  return sentence.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const month = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });

// A time that no calendar has is shown as none.
const written = (format, time) => (Math.abs(time) <= 8.64e15 ? format.format(time) : "–");

export const clockTime = (time) => written(clock, time);
export const dayName = (time) => written(day, time);
export const monthName = (time) => written(month, time);
export const fullTime = (time) => written(full, time);
export const dayOf = (time) => (Math.abs(time) <= 8.64e15 ? new Date(time).toDateString() : "");
/** The time of today, else the day. */
export const shortTime = (time) => (dayOf(time) === dayOf(Date.now()) ? clockTime(time) : written(shortDay, time));
