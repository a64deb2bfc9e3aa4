// What a conversation decides and does together: polls and items, on a view of their own.
import { load } from "./api.js";
import { bdi, foreign, h, hint, note } from "./dom.js";
import { conversation } from "./store.js";
import { hiddenCard, togetherView } from "./together.js";
import { addView, button, choices, field, group, ownName, rpc, told } from "./view.js";
import { listed, momentTime, t } from "./words.js";

const lines = (text) => text.split("\n").map((each) => each.trim()).filter(Boolean);

// MARK: Polls

function answer(view, poll) {
  const kind = poll.isMultiple ? "checkbox" : "radio";
  const boxes = poll.options.map((each, place) => h("label.choice", {},
    h("input", { type: kind, name: poll.id, value: place + 1, checked: each.isOwn, disabled: !poll.mayAnswer, "data-key": `${poll.id} ${place}`, onchange: () => send() }),
    h("span", {}, bdi(each.text), " ", note(t("poll.votes", { n: each.count })),
      each.names.length > 0 && foreign("span.hint", {}, ` ${listed(each.names)}`))));
  const send = () => view.attempt(() => rpc("answerPoll", {
    poll: poll.id, choices: boxes.flatMap((each, place) => each.firstChild.checked ? [place + 1] : []),
  }));
  return h("fieldset.poll", {}, foreign("legend.name", {}, poll.question), ...boxes);
}

function pollCard(view, poll) {
  if (poll.isHidden) return hiddenCard();
  return h("div.card", {}, answer(view, poll),
    hint(told("poll.by", { name: poll.author }), " · ", poll.state !== "open" ? t("poll.closed")
      : poll.until ? t("poll.until", { time: momentTime(poll.until) }) : t("poll.open")),
    choices(
      poll.state === "closed" && button(t("decision.ofPoll"), () => decideOn(poll), { "data-key": `decide ${poll.id}` }),
      poll.mayClose && poll.state === "open" && view.does(t("poll.close"), "closePoll", { poll: poll.id }),
      poll.isOwn && button(t("poll.delete"), () => view.sure(t("poll.deleteAsk"), t("poll.deleteText"), t("poll.delete"), "deletePoll", { poll: poll.id }), { "data-key": `delete ${poll.id}` })));
}

/** Proposes what a poll chose; where that is not one answer, its person says what. */
async function decideOn(poll) {
  const { propose } = await load("./decisions.js");
  const best = Math.max(...poll.options.map((each) => each.count));
  const chosen = best > 0 ? poll.options.filter((each) => each.count === best).map((each) => each.text) : [];
  propose(poll.conversation, `${poll.question} ${chosen.length === 1 ? chosen[0] : ""}`.trim(), { poll: poll.id }, () => (location.hash = `#/decisions/${poll.conversation}`));
}

function askPoll(view, id) {
  view.asks(t("poll.new"), [
    field("question", t("poll.question")), field("options", t("poll.options"), "long"), field("multiple", t("poll.multiple"), "check", false),
    field("hours", t("poll.hours"), "number", "", { min: 1, inputmode: "numeric" }),
  ], t("poll.ask"), (values) => rpc("askPoll", {
    conversation: id, question: values.question, options: lines(values.options),
    multiple: values.multiple, ...(values.hours && { hours: Number(values.hours) }),
  }));
}

// MARK: Items

/** Who may do it: who is in the conversation, and who did once they were asked. */
function whoField(id, assignees) {
  const names = [...new Set([...(conversation(id)?.members ?? []), ...assignees])];
  return h("fieldset.poll.people-choice", {}, h("legend.hint", {}, t("item.who")), names.map((name) => h("label.choice", {},
    h("input", { type: "checkbox", name: "assignees", value: name, checked: assignees.includes(name) }), foreign("span", {}, name))));
}

function itemFields(id, item = { assignees: [] }) {
  return [field("title", t("item.name"), "text", item.title ?? ""), whoField(id, item.assignees), field("due", t("item.due"), "date", item.due ?? ""), field("notes", t("item.notes"), "long", item.notes ?? "")];
}

function itemCard(view, item) {
  if (item.isHidden) return hiddenCard();
  const change = () => view.asks(t("item.change"), itemFields(item.conversation, item), t("view.save"), ({ assignees = [], ...values }) => {
    const changed = Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== (item[key] ?? "")));
    const without = (names, others) => names.filter((each) => !others.includes(each));
    const [adding, removing] = [without(assignees, item.assignees), without(item.assignees, assignees)];
    if (adding.length) changed.adding = adding;
    if (removing.length) changed.removing = removing;
    return Object.keys(changed).length ? rpc("changeItem", { item: item.id, ...changed }) : null;
  });
  const isDone = item.doneBy !== undefined;
  return h("div.card", {},
    h("label.choice", {},
      h("input", { type: "checkbox", checked: isDone, "data-key": `done ${item.id}`, onchange: () => view.attempt(() => rpc("changeItem", { item: item.id, done: !isDone })) }),
      foreign("span.name", {}, item.title)),
    item.otherTitles.length > 0 && foreign("p.warning", {}, t("item.other", { titles: item.otherTitles.join(" · ") })),
    item.notes && foreign("p.description", {}, item.notes),
    hint(isDone ? told("item.doneBy", { name: item.doneBy }) : item.due ? t("item.dueOn", { time: item.due }) : t("item.noDue"),
      item.assignees.length > 0 && bdi(` · ${listed(item.assignees)}`)),
    choices(item.source && h("a.button", { href: `#/c/${item.conversation}/${item.source}` }, t("decision.source")), button(t("item.change"), change, { "data-key": `change ${item.id}` }),
      item.author === ownName() && button(t("item.delete"), () => view.sure(t("item.deleteAsk"), t("item.deleteText"), t("item.delete"), "deleteItem", { item: item.id }), { "data-key": `delete ${item.id}` })));
}

addView(/^#\/together\/([0-9a-f]{64})$/, (id) => {
  const view = togetherView(id, "together");
  view.add(choices(
    button(t("poll.new"), () => askPoll(view, id), { class: "lead" }),
    button(t("item.new"), () => view.asks(t("item.new"), itemFields(id), t("item.make"), ({ title, due, notes, assignees = [] }) =>
      rpc("createItem", { conversation: id, title, assignees, ...(due && { due }), ...(notes && { notes }) })), { class: "lead" })));
  view.part(async () => {
    const [polls, items] = await Promise.all([rpc("polls", { conversation: id }), rpc("items", { conversation: id })]);
    return { polls, items };
  }, ({ polls, items }) => {
    const parts = [...group(t("poll.title"), polls.map((each) => pollCard(view, each))), ...group(t("item.title"), items.map((each) => itemCard(view, each)))];
    return parts.length ? parts : hint(t("together.none"));
  }, "poll", "item");
  return view;
});
