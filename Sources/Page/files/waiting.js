// Who waits for an answer: how many, in a line of the list.
import { h, later } from "./dom.js";
import { noteFailure, on } from "./store.js";
import { rpc, told } from "./views.js";
import { t } from "./words.js";

const none = { asks: [], invitations: [], joins: [] };
export let waiting = none;

/** Reads who asks, who invites, and which groups one waits for; `changed` is told when that is otherwise. */
export function watchWaiting(changed) {
  const read = later(async () => {
    try {
      const [contacts, found] = await Promise.all([rpc("contacts"), rpc("invitations")]);
      waiting = {
        people: contacts.length, asks: contacts.filter((each) => each.state === "pending"),
        invitations: found.waiting, joins: found.joins.filter((each) => !each.isMember),
      };
      changed();
    } catch (error) {
      if (!noteFailure(error)) throw error;
    }
  }, 60);
  on("event", (change) => ["contact", "invitation", "invitations", "members", "conversation", "missed"].includes(change.kind) && read());
  on("connection", (state) => state === "here" && read());
}

/** The line of the list that says what waits; null where nothing does. */
export function waitingLine() {
  const { asks, invitations, joins } = waiting;
  const count = asks.length + invitations.length;
  if (!count && !joins.length) return null;
  let words = t("waiting.several", { n: count });
  if (!count) words = told("waiting.joins", { name: joins[0].name });
  else if (count === 1 && asks.length) words = told("waiting.asks", { name: asks[0].name });
  else if (count === 1) words = told("waiting.invites", { name: invitations[0].inviter, group: groupName(invitations[0].name) });
  return lineOf("waiting", "#/waiting", words, count);
}

/** A line of the list that says what waits: its key, where it leads, and how many there are. */
export const lineOf = (key, address, words, count) => h("li.waiting-line", { "data-id": key }, h("a", { href: address, "aria-current": location.hash === address ? "page" : null },
  h("span.name", {}, words), count > 0 && h("span.count", {}, count)));

export const groupName = (name) => name || t("waiting.unnamed");
