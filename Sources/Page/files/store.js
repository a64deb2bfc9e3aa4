// What the page knows: kept in one place, changed by the events of the node, told to who listens.
import { Away, Locked, Outdated, changes, rpc } from "./api.js";
import { later } from "./dom.js";
import { keeps } from "./keep.js";

const listeners = new Map();

/** Calls `body` whenever something of this kind changes; returns how to end that. */
export function on(kind, body) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(body);
  return () => listeners.get(kind).delete(body);
}

function tell(kind, value) {
  for (const body of [...(listeners.get(kind) ?? [])]) body(value);
}

export const store = {
  status: null,
  conversations: [],
  /** `starting`, `here`, `away`, `locked`, or `outdated`: the node has another version of this page. */
  connection: "starting",
  /** Under which name this page takes the sound and pictures of calls, as long as it reads events. */
  seat: "",
  /** What the title of the window says first, and whether it rings. */
  notice: "",
  isRinging: false,
  /** When the node said last what is shown, where it did not say it to this page; null otherwise. */
  keptTime: null,
};

const pageCountMax = 8;
const keptLengthMax = 1 << 20;
/** The newest messages of the conversations that were open last, that of now at the end. */
const pages = new Map();

/** A page without what has disappeared meanwhile. */
const present = (page) => ({ ...page, messages: page.messages.filter(({ disappears }) => !disappears || disappears > Date.now()) });

/** What became of a message becomes of the kept one as well. */
function renew({ kind, conversation: id, message }) {
  if (kind === "missed") return pages.clear();
  const page = pages.get(id);
  if (!page) return;
  if (kind === "refolded" || kind === "members") pages.delete(id);
  else if (message) pages.set(id, { ...page, messages: page.messages.map((each) => each.id === message.id ? message : each) });
}

const keep = keeps("shown", () => {
  const { status, conversations } = store;
  const kept = [];
  let room = keptLengthMax;
  for (const [id, whole] of [...pages].reverse()) {
    const page = present(whole);
    if ((room -= JSON.stringify(page).length) < 0) break;
    kept.unshift([id, page]);
  }
  return { time: store.keptTime ?? Date.now(), status: { name: status?.name, home: status?.home, isRevoked: status?.isRevoked }, conversations, pages: kept };
}, 300);

/** Keeps the newest messages of a conversation, for when the node is away. */
export function keepPage(id, page) {
  pages.delete(id);
  pages.set(id, page);
  if (pages.size > pageCountMax) pages.delete(pages.keys().next().value);
  keep();
}

/** The newest messages of a conversation as they were shown last. */
export const keptPage = (id) => pages.has(id) ? structuredClone(present(pages.get(id))) : undefined;

/** Shows what the node said last, until it says itself how it is. */
export function takeShown(kept) {
  for (const [id, page] of kept?.pages ?? []) if (!pages.has(id)) pages.set(id, page);
  if (!kept || store.status) return;
  Object.assign(store, { status: kept.status, conversations: kept.conversations, keptTime: kept.time });
  tell("conversations");
}

/** The conversation of this identifier; undefined where there is none. */
export const conversation = (id) => store.conversations.find((each) => each.id === id);

/** Ends the events that are read now, so that the node is asked for anew. */
let stream = null;

function become(connection) {
  if (store.connection === connection) return;
  store.connection = connection;
  tell("connection", connection);
}

/** Notes what an error tells of the node. True where it is that one waits. */
export function noteFailure(error) {
  if (error instanceof Locked) become("locked");
  else if (error instanceof Outdated) become("outdated");
  else if (error instanceof Away) {
    become("away");
    // Where it is back already, what is on its way is only asked again once that was seen.
    stream?.abort();
  } else return false;
  return true;
}

/** Passes over what the node does not do, or is away for; whatever else failed is a fault of the page. */
export function passOver(error) {
  if (!noteFailure(error) && !error.code) throw error;
}

/** Has the title of the window say something first, and its icon whether it rings. */
export function setNotice(words, isRinging) {
  store.notice = words;
  store.isRinging = isRinging;
  tell("notice");
}

async function readConversations() {
  try {
    store.conversations = await rpc("conversations");
    store.keptTime = null;
    for (const id of [...pages.keys()]) if (!conversation(id)) pages.delete(id);
    keep();
    tell("conversations");
  } catch (error) {
    if (!noteFailure(error)) throw error;
  }
}
const readSoon = later(readConversations, 80);

/** A conversation's line may look different now. */
export const refreshConversations = readSoon;

/** A device that was revoked says so from then on. */
function takeStatus(status) {
  const was = Boolean(store.status?.isRevoked);
  store.status = status;
  if (status.isRevoked !== was) tell("revoked");
}

const readStatusSoon = later(async () => {
  try {
    takeStatus(await rpc("status"));
  } catch (error) {
    if (!noteFailure(error)) throw error;
  }
}, 80);

function apply(change) {
  renew(change);
  tell("event", change);
  if (["devices", "missed"].includes(change.kind)) readStatusSoon();
  if (change.kind === "typing") return tell("typing", change);
  if (change.conversation) tell("change", change);
  if (["missed", "refolded", "members"].includes(change.kind)) tell("reload", change);
  if (!["presence", "link", "search", "call", "media"].includes(change.kind)) readSoon();
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** Follows the node for as long as the page is there; a node that went away is asked for again. */
export async function follow() {
  let cursor = null;
  let wait = 250;
  for (;;) {
    try {
      if (!cursor) cursor = (await rpc("changes", { limit: 1 })).cursor;
      if (store.connection !== "here") {
        takeStatus(await rpc("status"));
        await readConversations();
        const wasAway = store.connection === "away";
        become("here");
        if (wasAway) tell("reload", {});
      }
      stream = new AbortController();
      store.seat = [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
      for await (const event of changes(cursor, store.seat, stream.signal)) {
        wait = 250;
        if (event.change) apply(event.change);
        if (event.cursor) cursor = event.cursor;
      }
    } catch (error) {
      if (error.code === "bad-cursor") cursor = null;
      else if (!noteFailure(error)) throw error;
      if (["locked", "outdated"].includes(store.connection)) return;
    }
    await pause(wait);
    wait = Math.min(wait * 2, 4000);
  }
}
