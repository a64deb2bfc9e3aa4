// What the page keeps in the browser for when the node is away: the list and the last pages that were shown, what
// is typed, and what waits to be sent. On the disk it is sealed; its key is in memory alone, that of the page and of
// its service worker, so that it outlives a reload, and neither the browser nor the session.
import { later } from "./dom.js";

const workers = navigator.serviceWorker;
// The policy of the page lets this one address be a worker's, and no other text be one of a script.
const address = globalThis.trustedTypes?.createPolicy("parley-worker", { createScriptURL: () => "/sw.js" }).createScriptURL("") ?? "/sw.js";
/** A worker that hears nothing is ended after half a minute, in milliseconds less than that. */
const reminderTime = 20_000;

let key = null;
let base = null;
/** What this tab calls what is its own: two windows do not write over each other. */
let tab = "";
/** What is written, by its name: how it is read, and the write that goes on. */
const sources = new Map();
const found = { own: [], shown: null };
/** What windows left that are closed, until it is kept here. */
const adopted = new Set();

const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const records = (mode) => base.transaction("sealed", mode).objectStore("sealed");
const bytesOf = (text) => new TextEncoder().encode(text);
const recordOf = (name) => (name === "own" ? `own ${tab}` : name);

/** Takes a lock that this tab holds as long as it is there. False where another tab has it. */
const holds = (name) => new Promise((resolve) => {
  // A page that is reloaded may have it for a moment yet.
  navigator.locks.request(name, { signal: AbortSignal.timeout(1000) }, () => (resolve(true), new Promise(() => {}))).catch(() => resolve(false));
});

/** A tab that is reloaded is the same one; one that was made from another by the browser is not. */
async function nameWindow() {
  tab = sessionStorage.getItem("tab") ?? "";
  if (!tab || !(await holds(`own ${tab}`))) {
    tab = crypto.randomUUID();
    await holds(`own ${tab}`);
  }
  sessionStorage.setItem("tab", tab);
}

async function freshKey() {
  return { id: crypto.randomUUID(), key: await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]) };
}

/** Agrees with the worker on a key: that of whoever came first. */
async function agree(worker) {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  worker.postMessage({ kind: "key", offered: key ?? (await freshKey()) }, [port2]);
  const before = key?.id;
  key = await answer;
  if (before && before !== key.id) for (const name of sources.keys()) save(name);
}

async function openBase() {
  const open = indexedDB.open("parley", 1);
  open.onupgradeneeded = () => open.result.createObjectStore("sealed");
  base = await settled(open);
}

async function unsealed(name) {
  const { id, iv, sealed } = await settled(records("readonly").get(name));
  if (id !== key.id) throw new Error("another key");
  const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: bytesOf(name) }, key.key, sealed);
  return JSON.parse(new TextDecoder().decode(text));
}

/** Opens what was kept, of this tab and of closed ones; what another key sealed is of no use any more. */
async function readAll() {
  const open = new Set((await navigator.locks.query()).held.map((each) => each.name));
  for (const name of await settled(records("readonly").getAllKeys())) {
    const isOthers = name.startsWith("own ") && name !== recordOf("own");
    if (isOthers && open.has(name)) continue;
    try {
      const value = await unsealed(name);
      if (name === "shown") found.shown = value;
      else found.own.push(value);
      if (isOthers) adopted.add(name);
    } catch {
      await settled(records("readwrite").delete(name));
    }
  }
}

async function write(name, value) {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const { id, key: secret } = key;
  const record = recordOf(name);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: bytesOf(record) }, secret, bytesOf(JSON.stringify(value)));
  // Since then the session may have ended.
  if (!key) return;
  const store = records("readwrite");
  const done = settled(store.put({ id, iv, sealed }, record));
  if (name === "own") for (const each of adopted) store.delete(each);
  await done;
  if (name === "own") adopted.clear();
}

/** Writes what is to be kept, once at a time; what changes meanwhile is written after it. */
function save(name) {
  const source = sources.get(name);
  source.isAgain = true;
  if (source.writing || !key) return;
  source.writing = (async () => {
    while (source.isAgain && key) {
      source.isAgain = false;
      await write(name, source.read());
    }
  })().catch(() => null).finally(() => (source.writing = null));
}

/**
 * Says how something that is to be kept is read; returns what to call whenever it changed. It is written after
 * so many milliseconds without another change, or at once.
 */
export function keeps(name, read, wait = 0) {
  sources.set(name, { read, isAgain: false, writing: null });
  return wait ? later(() => save(name), wait) : () => save(name);
}

/** What was kept before this page, once `beginKeeping` is done: what was shown, and what was one's own, of each tab. */
export const wasKept = (name) => found[name];

/** Whether something would be lost with the page. */
export const keepsNothing = () => !key;

/** Once all that changed so far is written. */
export async function allKept() {
  for (const [name, source] of sources) {
    if (source.isAgain) save(name);
    await source.writing;
  }
}

async function begin(registration) {
  await Promise.all([openBase(), nameWindow()]);
  await agree(registration.active);
  const remind = () => key && registration.active && agree(registration.active).catch(() => null);
  setInterval(remind, reminderTime);
  for (const kind of ["pagehide", "visibilitychange"]) addEventListener(kind, remind);
  workers.addEventListener("controllerchange", remind);
}

/** Writes what changed before there was a key. */
const catchUp = () => [...sources].forEach(([name, { isAgain }]) => isAgain && save(name));

/** The page is shown first: a worker that is not there yet takes all its files. */
const idle = () => new Promise((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(resolve));

/** Opens what was kept, where there is a worker that has its key; where there is none, there will be. */
export async function beginKeeping() {
  if (!workers || !globalThis.indexedDB || !navigator.locks) return;
  // A browser can forbid all of it: then the page keeps what it has in memory.
  try {
    const registration = await workers.getRegistration("/");
    if (registration?.active) {
      await begin(registration);
      await readAll();
      catchUp();
    }
    idle().then(() => workers.register(address)).then(() => registration?.active || workers.ready.then(begin).then(catchUp)).catch(() => null);
  } catch {
    key = null;
  }
}

/** Forgets all of it, in the memory of the worker and on the disk: the session is over. */
export async function forgetKept() {
  key = null;
  try {
    const registration = await workers?.getRegistration("/");
    for (const each of [registration?.active, registration?.waiting, registration?.installing]) each?.postMessage({ kind: "forget" });
    if (base) await settled(records("readwrite").clear());
    for (const each of (await registration?.getNotifications?.()) ?? []) each.close();
  } catch {
    // Where nothing can be written, nothing is there; and without its key it is of no use.
  }
}
