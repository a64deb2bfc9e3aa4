// What a conversation decides: proposed, approved of, accepted or not, and what took its place.
import { bdi, foreign, h, hint } from "./dom.js";
import { remindOf } from "./reminders.js";
import { addView, ask, button, choices, field, rpc, told } from "./view.js";
import { hiddenCard, togetherView } from "./together.js";
import { listed, momentTime, t } from "./words.js";

const states = ["proposed", "accepted", "rejected", "superseded"];
const pageSize = 50;
const tagsOf = (text) => [...new Set(text.split(",").map((each) => each.trim()).filter(Boolean))];

/** Asks what is proposed; `from` is the message or the poll that it is made of. */
export function propose(id, title, from, done) {
  return ask(t("decision.new"), [
    field("title", t("decision.title"), "text", title), field("text", t("decision.text"), "long"), field("tags", t("decision.tags")),
  ], t("decision.propose"), async ({ title: said, text, tags }) => {
    await rpc("proposeDecision", { conversation: id, title: said, tags: tagsOf(tags), ...(text && { text }), ...from });
    done();
  });
}

/** Proposes what a message says. */
export const decide = (message) => propose(message.conversation, (message.text ?? "").split("\n")[0].slice(0, 200), { source: message.id },
  () => (location.hash = `#/decisions/${message.conversation}`));

/** Asks which one takes the place of another. */
async function supersede(view, each) {
  const { decisions } = await rpc("decisions", { conversation: each.conversation, limit: 200 });
  const others = decisions.filter((other) => other.id !== each.id && !other.isHidden && other.state !== "superseded");
  if (!others.length) return view.asks(t("decision.supersede"), [], t("view.done"), () => {}, { text: t("decision.noOther") });
  return view.asks(t("decision.supersede"), [field("successor", t("decision.successor"), others.map(({ id, title }) => [id, title.slice(0, 80)]), others[0].id)],
    t("view.save"), ({ successor }) => rpc("settleDecision", { decision: each.id, state: "superseded", successor }));
}

function actions(view, each) {
  const settle = (state) => view.does(t(`decision.to.${state}`), "settleDecision", { decision: each.id, state });
  const key = (what) => ({ "data-key": `${what} ${each.id}` });
  const isOpen = each.state === "proposed";
  return choices(
    ["proposed", "accepted"].includes(each.state) && view.does(t(each.isApproved ? "decision.disapprove" : "decision.approve"), "approveDecision", { decision: each.id, on: !each.isApproved },
      { "data-key": `approve ${each.id}` }),
    each.maySettle && isOpen && [settle("accepted"), settle("rejected")],
    each.maySettle && !isOpen && each.state !== "untaken" && settle("proposed"),
    each.maySettle && each.state === "accepted" && button(t("decision.supersede"), () => view.attempt(() => supersede(view, each)), key("supersede")),
    each.source && h("a", { href: `#/c/${each.conversation}/${each.source}`, class: "button" }, t("decision.source")),
    button(t("menu.remind"), () => remindOf({ item: each.id }), key("remind")),
    each.maySettle && button(t("decision.delete"), () => view.sure(t("decision.deleteAsk"), t("decision.deleteText"), t("decision.delete"), "deleteDecision", { decision: each.id }), key("delete")));
}

function card(view, each, tagButton) {
  if (each.isHidden) return hiddenCard();
  return h("div", { class: `card decision is-${each.state}` },
    h("p", {}, h("span.badge", {}, t(`decision.is.${each.state}`)), " ", foreign("span.name", {}, each.title)),
    each.text && foreign("p.description", {}, each.text),
    each.successor && h("p", {}, each.successorTitle ? told("decision.replaced", { title: each.successorTitle }) : t("decision.replacedGone")),
    each.tags.length > 0 && choices(...each.tags.map((tag) => tagButton(tag, each.id))),
    hint(told("decision.by", { name: each.author }), ` · ${momentTime(each.time)}`, each.settledBy && [" · ", ...told("decision.settledBy", { name: each.settledBy })]),
    each.approvers.length > 0 && hint(t("decision.approvers"), " ", bdi(listed(each.approvers))),
    actions(view, each));
}

addView(/^#\/decisions\/([0-9a-f]{64})$/, (id) => {
  const view = togetherView(id, "decisions");
  const wanted = { state: "", tag: "" };
  let pages = 1;
  const tagButton = (tag, place) => button("", () => {
    wanted.tag = wanted.tag.toLowerCase() === tag.toLowerCase() ? "" : tag;
    view.reread();
  }, { class: "tag", "aria-pressed": String(wanted.tag.toLowerCase() === tag.toLowerCase()), "data-key": `tag ${place} ${tag}` });
  const tagged = (tag, place) => {
    const element = tagButton(tag, place);
    element.append("# ", bdi(tag));
    return element;
  };
  view.add(
    choices(button(t("decision.new"), () => propose(id, "", {}, view.reread), { class: "lead" })),
    field("state", t("decision.which"), [["", t("decision.every")], ...states.map((each) => [each, t(`decision.is.${each}`)])], "", {
      onchange: ({ target }) => ((wanted.state = target.value), view.reread()),
    }));
  view.part(async () => {
    const found = { decisions: [], tag: wanted.tag };
    for (let page = 0; page < pages && (page === 0 || found.next); page++) {
      const conditions = Object.fromEntries(Object.entries({ ...wanted, from: found.next }).filter(([, value]) => value));
      const { decisions, next } = await rpc("decisions", { conversation: id, limit: pageSize, ...conditions });
      found.decisions.push(...decisions);
      found.next = next;
    }
    return found;
  }, ({ decisions, tag, next }) => [
    tag && hint(t("decision.tagged"), " ", tagged(tag, "chosen")),
    ...decisions.map((each) => card(view, each, tagged)),
    !decisions.length && hint(t(wanted.state || tag ? "decision.noneSuch" : "decision.none")),
    next && choices(button(t("menu.more"), () => ((pages += 1), view.reread()))),
  ], "decision");
  return view;
});
