// What one wrote: typed and not sent yet, or on its way until the node has it. Asked again under the same name, the
// node writes nothing twice; so what was cut off, by a node or by the page, is simply asked again.
import { rpc } from "./api.js";
import { attachedNames, giveBack, noteLost, ticketsOf, titleOf } from "./attach.js";
import { keeps, keepsNothing } from "./keep.js";
import { conversation, noteFailure, on } from "./store.js";

export const byteCount = (text) => new TextEncoder().encode(text).length;

/** Messages on their way, of all conversations, oldest first. */
const outbox = [];
const typed = new Map();
/** Conversations in which something is being sent, and the question that was asked last in each. */
const sending = new Set();
const asked = new Map();
/** Who shows a conversation, and is told what became of its messages. */
const watchers = new Map();

const unsent = () => outbox.filter((each) => !each.isSent);
const answered = async (id) => asked.get(id)?.catch(() => {});

/** Texts below each other, of those that there are. */
const joined = (...texts) => texts.filter(Boolean).join("\n");

// The bytes of files are too many to be kept. What was asked with them is asked again by their tickets, which the node
// may still have; of the rest the text is kept as if it were not sent, and how the files were called.
const keep = keeps("own", () => {
  const texts = new Map([...typed].filter(([id, text]) => text !== (conversation(id)?.draft ?? "")));
  const lost = attachedNames();
  for (const each of unsent().filter((each) => !isKept(each)).reverse()) {
    texts.set(each.conversation, joined(each.text, texts.get(each.conversation)));
    lost.push([each.conversation, each.names]);
  }
  return { typed: [...texts], lost, outbox: unsent().filter(isKept).map(({ attached, files, ...each }) => each) };
});
const isKept = (message) => !message.names.length || Boolean(message.tickets);

/** What is attached changed. */
export const attachedChanged = keep;

/** What is typed in a conversation, or in a thread, by the message it begins with; undefined where nothing was. */
export const typedIn = (id) => typed.get(id);

export function noteTyped(id, text) {
  typed.set(id, text);
  keep();
}

/** Takes back what pages before this one were not done with. */
export function takeOwn(kept) {
  for (const { typed: texts, lost = [], outbox: messages } of kept) {
    for (const [id, text] of texts) typed.set(id, text);
    for (const [id, names] of lost) noteLost(id, names);
    for (const each of messages) outbox.push({ names: [], ...each, attached: [], files: [] });
  }
  if (kept.length) keep();
}

function forget(messages) {
  const left = outbox.filter((each) => !messages.includes(each));
  if (left.length === outbox.length) return;
  outbox.splice(0, Infinity, ...left);
  keep();
}

/**
 * What is on its way in a conversation, for who shows it. A message that the node has stays here until it was
 * read from there, so that it is in the list once at any moment.
 */
export const outgoing = (id) => ({
  all: () => outbox.filter((each) => each.conversation === id),
  sent: () => outbox.filter((each) => each.conversation === id && each.isSent),
  /** What of it is in a page that was read; once the node has answered what was sent last, which may be in it. */
  in: async (page) => {
    await answered(id);
    const ids = new Set(page.messages.map((each) => each.id));
    return outbox.filter((each) => ids.has(each.kept));
  },
  /** Once the node has answered what was sent last. */
  answered: () => answered(id),
  forget,
});

/** Tells what became of messages of a conversation: `sent`, or `failed` with why, where their texts are typed again; returns how to end that. */
export function watchOutbox(id, watcher) {
  watchers.set(id, watcher);
  return () => {
    if (watchers.get(id) === watcher) watchers.delete(id);
    forget(outgoing(id).sent());
  };
}

/** Sends a message, as soon as the node is there. */
export function send(message) {
  outbox.push({ ...message, names: message.attached.map(titleOf), once: crypto.randomUUID() });
  noteTyped(message.conversation, "");
}

/** Sends what waits, of each conversation one after the other: files of one keep no other waiting. */
export async function flush() {
  await Promise.all([...new Set(outbox.map((each) => each.conversation))].map(flushIn));
}

async function flushIn(id) {
  if (sending.has(id)) return;
  sending.add(id);
  const refused = [];
  try {
    for (;;) {
      const first = outbox.find((each) => each.conversation === id && !each.isSent);
      if (!first) return;
      try {
        await deliver(first);
        first.isSent = true;
        keep();
        if (watchers.has(id)) watchers.get(id).sent(first);
        else forget([first]);
      } catch (error) {
        if (noteFailure(error)) return;
        forget([first]);
        takeBack(first, refused);
        watchers.get(id)?.failed(error);
      }
    }
  } finally {
    sending.delete(id);
  }
}

/** What the node refused is typed again, below the texts that it refused before and above what is typed by now. */
function takeBack({ conversation: id, text, attached, names }, refused) {
  giveBack(id, attached);
  if (!attached.length) noteLost(id, names);
  const now = typed.get(id) ?? "";
  const before = joined(...refused);
  const isBelow = before && now.startsWith(before);
  refused.push(text);
  noteTyped(id, joined(...refused, isBelow ? now.slice(before.length).replace(/^\n/, "") : now));
}

async function deliver(message) {
  const { attached } = message;
  const params = { conversation: message.conversation, texts: [message.text], once: message.once };
  if (message.replyTo) params.replyTo = message.replyTo;
  for (let tries = 0; ; tries++) {
    if (attached.length) message.tickets = await ticketsOf(attached, byteCount(message.text));
    if (message.tickets) keep(), (params.files = message.tickets);
    const answer = rpc("send", params);
    asked.set(message.conversation, answer);
    try {
      message.kept = (await answer)[0]?.id;
      break;
    } catch (error) {
      // A node that was started again knows nothing of what waited there to be sent.
      if (!attached.length || !["no-ticket", "file-gone", "not-sealed"].includes(error.code) || tries > 2) throw error;
      for (const each of attached) each.start();
    }
  }
  for (const each of attached) each.release();
}

on("connection", (state) => state === "here" && flush());
// Where nothing is kept beside this page, what waits would go with it.
addEventListener("beforeunload", (event) => keepsNothing() && unsent().length && event.preventDefault());
