// The head of a conversation.
import { foreign, h, namesOf, note } from "./dom.js";
import { lookalikes, short } from "./views.js";
import { listed, t } from "./words.js";

/** What a conversation is called, who is in it, and why nothing may be said in it. */
export function fillHead(head, of) {
  const shown = JSON.stringify([of.name, of.members, of.resembles, standing(of)]);
  if (head.dataset.shown === shown) return;
  head.dataset.shown = shown;
  head.replaceChildren(
    h("h1", {}, foreign("a", { href: `#/g/${of.id}` }, of.name), of.resembles?.length > 0 && note(` ${short(of.id)}`)),
    h("p.hint.members", {}, of.kind === "direct" ? "" : namesOf(of.members)),
    h("a", { href: `#/together/${of.id}`, class: "hint" }, t("together.title")),
    lookalikes(of.resembles ?? []),
    ...standing(of).map((text) => foreign("p.warning", {}, text)));
}

/** What one should know of how a conversation stands, in sentences. */
export function standing(of) {
  const found = [];
  if (of.isOut) found.push(t(of.heldOn?.length ? "standing.elsewhere" : "standing.out", { names: listed(of.heldOn ?? []) }));
  if (of.isInvited) found.push(t("standing.invited"));
  if (of.supersededBy) found.push(t("standing.superseded"));
  if (of.waitingFor) found.push(of.waitingFor);
  return found;
}
