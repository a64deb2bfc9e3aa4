// Hears of calls; what they need is loaded when there is one.
import { load, rpc } from "./api.js";
import { later } from "./dom.js";
import { noteFailure, on, passOver, store } from "./store.js";
import { alone } from "./views.js";

let module = null;
const calls = () => (module ??= load("./calls.js").catch((error) => ((module = null), Promise.reject(error))));

/** Whether a call in a conversation is possible, as far as the page knows. */
export const canCall = (of) =>
  Boolean(globalThis.RTCPeerConnection && navigator.mediaDevices) && !of.isOut && !of.isInvited && !of.supersededBy && of.members.length > 1 && !store.status?.isRevoked;

/** Begins a call, or comes into the one that goes on, once its person chose what to send. */
export const startCall = (of, withCamera) => alone(async () => (await calls()).start(of, withCamera));

/** Tells what became of calls in a conversation, whenever that changes; returns how to end that. */
export function followCalled(id, tell) {
  let isEnded = false;
  let found = new Map();
  const read = async () => {
    try {
      const [records, calls] = await Promise.all([rpc("callRecords", { conversation: id }), rpc("calls")]);
      // What goes on has not become anything yet.
      const going = new Set(calls.filter((each) => each.state !== "aside" || each.members.length > 1).map((each) => each.call));
      found = new Map();
      for (const each of records) {
        if (each.outcome === "replaced" || going.has(each.call)) continue;
        const below = each.below ?? "";
        if (!found.has(below)) found.set(below, []);
        found.get(below).push(each);
      }
      // What stands at the same place has an order.
      for (const calls of found.values()) calls.sort((a, b) => (a.order < b.order ? -1 : 1));
      if (!isEnded) tell(found);
    } catch (error) {
      passOver(error);
    }
  };
  const again = later(read, 150);
  // A message that comes stands below what was below all.
  const end = on("event", (change) => (change.kind === "missed" || (change.conversation === id && ["calls", "call", "refolded", found.has("") && "message"].includes(change.kind))) && again());
  read();
  return () => ((isEnded = true), end());
}

/** Follows the calls of this device. */
export function watchCalls() {
  const hear = (body) => calls().then(body).catch((error) => noteFailure(error) || Promise.reject(error));
  const missed = async () => {
    const all = await rpc("calls").catch((error) => noteFailure(error) ? [] : Promise.reject(error));
    if (all.length || module) hear(({ heardAll }) => heardAll(all));
  };
  on("event", (change) => {
    if (change.kind === "media") hear(({ order }) => order(change.media));
    else if (change.kind === "call" && change.call) hear(({ heard }) => heard(change.call));
    else if (change.kind === "missed") missed();
  });
  on("connection", (state) => {
    if (state === "here") missed();
    else if (module) hear(({ lost }) => lost());
  });
}
