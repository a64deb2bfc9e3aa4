// What the assistant finds. Each line is a sentence of a message, and leads there.
import { announce, bdi, foreign, h, hint, isolated, note } from "./dom.js";
import { togetherView } from "./together.js";
import { View, addView, button, field, form, group, prose, rpc } from "./view.js";
import { count, shortTime, t } from "./words.js";

const kinds = ["message", "mention", "receipts", "refolded", "item", "decision", "preferences"];
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const day = 86_400_000;
const spans = { all: 0, day, week: 7 * day, month: 30 * day };

/** A sentence in its place, and what may be done with it. */
function line(cited, mark, ...actions) {
  return h("li.hit.cited", {}, h("a", { href: `#/c/${cited.conversation}/${cited.id}` },
    foreign("span.name", {}, cited.isOwn ? t("message.you") : cited.author), h("time", {}, shortTime(cited.time)),
    h("span.under", {}, bdi(cited.text + (cited.isCut ? "…" : "")), mark && note(` · ${mark}`))), ...actions);
}

const list = (title, rows) => group(title, rows.length > 0 && h("ul.messages", {}, rows));

/** How far it was looked, where that is not all. */
const looked = ({ messageCount, hasMore }) => hasMore && hint(t("assistant.looked", { n: messageCount }));

function suggestion(view, kind, cited, mark, label, take) {
  const key = (what) => ({ "data-key": `${what} ${kind} ${cited.id} ${cited.sentence}` });
  const dismiss = () => rpc("dismissSuggestion", { kind, message: cited.id, sentence: cited.sentence });
  return line(cited, mark,
    button(t(label), () => view.attempt(async () => {
      await take();
      await dismiss();
      announce(t("assistant.made"));
    }), key("take")),
    button(t("assistant.dismiss"), () => view.attempt(dismiss), key("dismiss")));
}

const itemOf = (view, { line: cited, assignee, assigneeName, due }) => suggestion(view, "item", cited,
  [assigneeName, due && t("item.dueOn", { time: due })].filter(Boolean).join(" · "), "assistant.makeItem",
  () => rpc("createItem", { conversation: cited.conversation, title: cited.text, source: cited.id, assignees: assignee ? [assignee] : [], ...(due && { due }) }));

const decisionOf = (view, { line: cited, agreement }) => suggestion(view, "decision", cited, agreement && t("assistant.agreed"), "decision.propose",
  () => rpc("proposeDecision", { conversation: cited.conversation, title: cited.text, source: cited.id, tags: [] }));

function missed({ conversation: id, title, unreadCount, urgent, decisions, points, looked: how }) {
  return h("section", {},
    h("h2", {}, h("a", { href: `#/c/${id}`, dir: "auto" }, title), note(` ${t("thread.unread", { n: unreadCount })}`)),
    h("ul.messages", {}, urgent.map((each) => line(each.line, t(`assistant.${each.reason}`))),
      decisions.map((each) => line(each, t("assistant.decided"))), points.map((each) => line(each))),
    looked(how));
}

addView(/^#\/catchup$/, () => {
  const view = new View(t("assistant.catchUp"));
  view.add(hint(t("assistant.how")), h("p.links", {}, h("a", { href: "#/ask" }, t("ask.title"))));
  view.part(() => rpc("catchUp", { count: 3, zone }), ({ parts, leftCount }) => [
    ...parts.map(missed), !parts.length && h("p", {}, t("assistant.nothing")), leftCount > 0 && hint(t("assistant.left", { n: leftCount })),
  ], ...kinds);
  return view;
});

addView(/^#\/ask$/, () => {
  const view = new View(t("ask.title"), "#/catchup");
  let question = "";
  view.add(hint(t("ask.how")), form([field("question", t("ask.question"), "text", "", { required: true })], t("ask.do"), (values) => {
    ({ question } = values);
    view.reread();
  }));
  view.part(() => (question ? rpc("ask", { question, limit: 8 }) : null), (found) => found && [
    ...found.notes.map((each) => hint(prose(each))),
    found.passages.length ? h("ul.messages", {}, found.passages.map((each) => line(each, isolated(each.title)))) : h("p", {}, t("ask.none")),
  ], ...kinds).setAttribute("role", "status");
  return view;
});

addView(/^#\/assistant\/([0-9a-f]{64})(?:\/([0-9a-f-]+))?$/, (id, thread) => {
  const view = thread ? new View(t("assistant.thread"), `#/c/${id}/${thread}/thread`) : togetherView(id, "assistant");
  const wanted = { span: "all", count: "5" };
  const choose = (name, options) => field(name, t(`assistant.${name}`), options, wanted[name], { onchange: ({ target }) => ((wanted[name] = target.value), view.reread()) });
  view.add(hint(t("assistant.how")), h("div.pair", {},
    choose("span", Object.keys(spans).map((each) => [each, t(`assistant.span.${each}`)])), choose("count", [3, 5, 10, 20].map((each) => [`${each}`, count(each)]))));
  view.part(async () => {
    const span = spans[wanted.span];
    const said = await rpc("summarize", { conversation: id, count: Number(wanted.count), ...(thread && { thread }), ...(span && { since: Date.now() - span }) });
    if (thread) return { said };
    const of = { conversation: id };
    const [open, items, decisions] = await Promise.all([rpc("openQuestions", of), rpc("suggestItems", { ...of, zone }), rpc("suggestDecisions", of)]);
    return { said, open: open.questions, items: items.suggestions, decisions: decisions.suggestions };
  }, ({ said, open = [], items = [], decisions = [] }) => [
    ...group(t("assistant.said"), said.points.length ? h("ul.messages", {}, said.points.map((each) => line(each))) : hint(t("assistant.none")), looked(said.looked)),
    ...list(t("assistant.open"), open.map((each) => line(each.line, each.isToMe && t("assistant.question")))),
    ...list(t("assistant.items"), items.map((each) => itemOf(view, each))),
    ...list(t("assistant.decisions"), decisions.map((each) => decisionOf(view, each))),
  ], ...kinds);
  return view;
});
