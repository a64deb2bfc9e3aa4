// Gives out the page while the node is away, and holds, for as long as it runs, the key of what the page keeps
// sealed. What the API answers passes it by and is never kept. Above this the node puts `version`, that of the
// page, and `parts`, the paths of all its files.
const name = `page-${version}`;
/** How long the node has to answer before it counts as away, in milliseconds. */
const patience = 4000;
/** The key and what it is called; in this memory alone. */
let key = null;

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(Promise.all([fill(), inherit()]));
});

addEventListener("activate", (event) => event.waitUntil(takeOver()));

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname === "/" && request.mode === "navigate" && request.destination === "document") event.respondWith(shell());
  else if (pathname.startsWith("/v/")) event.respondWith(part(request));
});

addEventListener("message", (event) => {
  const { kind, offered } = event.data;
  if (kind === "forget") key = null;
  if (kind !== "key") return;
  key ??= offered ?? null;
  event.ports[0]?.postMessage(key);
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

/** Takes the files of one version, or none: no page is made of two. */
async function fill() {
  const cache = await caches.open(name);
  const found = await fetch("/", { cache: "no-store" });
  if (found.headers.get("Parley-Page-Version") !== version) throw new Error("the node has another page by now");
  await cache.addAll(parts);
  await cache.put("/", found);
}

/** Takes the key from the worker before this one, so that what was kept can still be read. */
async function inherit() {
  if (!registration.active) return;
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    setTimeout(resolve, 1000, null);
  });
  registration.active.postMessage({ kind: "key" }, [port2]);
  key ??= await answer;
}

async function takeOver() {
  for (const each of await caches.keys()) if (each !== name) await caches.delete(each);
  await clients.claim();
}

/** The page as the node has it now; where the node is away, as it was last. */
async function shell() {
  let answer = null;
  try {
    answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(patience) });
  } catch {
    // It is away, which is what the page then says.
  }
  // Whatever else listens where the node did has no page of it.
  if (answer?.headers.has("Parley-Page-Version")) return answer;
  return (await (await caches.open(name)).match("/")) ?? answer ?? Response.error();
}

/** A file of the page. Its path names its version: what is kept under it is what the node has under it. */
async function part(request) {
  return (await (await caches.open(name)).match(request)) ?? fetch(request);
}

/** Leads to what a notification tells of. */
async function show(address) {
  const [first] = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!first) return clients.openWindow(`/${address}`);
  first.postMessage({ kind: "show", address });
  // Some browsers let a worker bring a window to the front only right after a click.
  await first.focus().catch(() => null);
}
