// The API of the node, as every program has it: requests, and changes from a cursor.

import { loadStyle } from "./dom.js";
import { laterWords } from "./words.js";

/** What the node said where it did not do what was asked. */
export class Refused extends Error {
  constructor(code, message, hint) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The node cannot be reached. */
export class Away extends Error {}

/** This browser is not let in, or not any more. */
export class Locked extends Error {}

/** The node has another version of this page. */
export class Outdated extends Error {}

/** The version of this page, which its address says. */
const version = import.meta.url.match(/\/v\/([0-9a-f]+)\//)?.[1] ?? "";
const own = { "Parley-Page": "1", "Parley-Page-Version": version };
let next = 0;

async function reach(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Away();
  }
  if (response.status === 401) throw new Locked();
  if (response.status === 412) throw new Outdated();
  if (response.status === 503) throw new Away();
  return response;
}

/** Asks the node something; returns its answer. */
export async function rpc(method, params = {}, options = {}) {
  const response = await reach("/rpc", {
    method: "POST",
    headers: { ...own, "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++next, method, params }),
    ...options,
  });
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Away();
  }
  const { error } = answer;
  if (error) throw new Refused(error.data?.code ?? error.code, error.message, error.data?.hint ?? error.hint);
  return answer.result;
}

const loaded = new Map();
let style = null;

/** The look of what is opened later; asked for again where it did not come. */
const laterStyle = () => (style ??= loadStyle("./later.css").then(({ type }) => type === "error" && (style = null)));

/** A module of the page that is not there from the beginning: what is opened later is loaded then. */
export async function load(path) {
  // What is here answers before the next key is pressed.
  if (loaded.has(path)) return loaded.get(path);
  try {
    await Promise.all([laterWords(), laterStyle()]);
    const module = await import(path);
    loaded.set(path, module);
    return module;
  } catch (error) {
    // A module that came and is wrong is another thing.
    if (error instanceof TypeError) throw new Away();
    throw error;
  }
}

/** Begins a session by what a link said. */
export async function enter(secret) {
  const response = await reach("/enter", { method: "POST", headers: { ...own, "Parley-Enter": secret } });
  return response.ok;
}

/** Ends the session of this browser. */
export async function leave() {
  await reach("/leave", { method: "POST", headers: own });
}

/** Changes after a cursor as they come, until the node goes away: then it throws. `seat` is for calls. */
export async function* changes(cursor, seat, signal) {
  const response = await reach(`/events?${new URLSearchParams({ ...(cursor && { since: cursor }), seat })}`, { headers: own, signal });
  if (!response.ok) throw new Refused((await response.json()).error?.code, "the stream was refused");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch {
      throw new Away();
    }
    if (part.done) throw new Away();
    rest += part.value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = {};
      for (const line of block.split("\n")) {
        if (line.startsWith("id: ")) event.cursor = line.slice(4);
        if (line.startsWith("data: ")) event.change = JSON.parse(line.slice(6));
      }
      if (event.cursor || event.change) yield event;
    }
  }
}
