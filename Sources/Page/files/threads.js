// Which messages of a conversation have answers, and how many.
import { later } from "./dom.js";
import { on, passOver } from "./store.js";
import { rpc } from "./views.js";

/**
 * Tells how many answers messages of a conversation have, by their identifiers, whenever that changes; returns
 * how to end that. Of very many threads those with the newest answers are known.
 */
export function followThreads(id, tell) {
  const known = new Map();
  let isEnded = false;
  const read = async (pages) => {
    try {
      for (let from; pages-- > 0 && !isEnded; ) {
        const { threads, next } = await rpc("threads", { conversation: id, limit: 100, ...(from && { from }) });
        for (const each of threads) known.set(each.rootID, each);
        if (!(from = next)) break;
      }
      if (!isEnded) tell(known);
    } catch (error) {
      passOver(error);
    }
  };
  // What changed last comes first.
  const again = later(() => read(1), 200);
  const end = on("event", (change) => (change.conversation === id || change.kind === "missed") && again());
  read(5);
  return () => ((isEnded = true), end());
}
