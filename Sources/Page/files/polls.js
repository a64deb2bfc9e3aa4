// What a conversation decides and does together: polls and items, on a view of their own.
import { foreign, h } from "./dom.js";
import { conversation } from "./store.js";
import { View, addView, button, choices, field, group, rpc, told } from "./views.js";
import { listed, momentTime, t } from "./words.js";

const lines = (text) => text.split("\n").map((each) => each.trim()).filter(Boolean);

// MARK: Polls

function answer(view, poll) {
  const kind = poll.isMultiple ? "checkbox" : "radio";
  const boxes = poll.options.map((each, place) => h("label", { class: "choice" },
    h("input", { type: kind, name: poll.id, value: place + 1, checked: each.isOwn, disabled: !poll.mayAnswer, "data-key": `${poll.id} ${place}`, onchange: () => send() }),
    h("span", {}, foreign("bdi", {}, each.text), " ", h("span", { class: "hint" }, t("poll.votes", { n: each.count })),
      each.names.length > 0 && foreign("span", { class: "hint" }, ` ${listed(each.names)}`))));
  const send = () => view.attempt(() => rpc("answerPoll", {
    poll: poll.id, choices: boxes.flatMap((each, place) => each.firstChild.checked ? [place + 1] : []),
  }));
  return h("fieldset", { class: "poll" }, foreign("legend", { class: "name" }, poll.question), ...boxes);
}

const hiddenCard = () => h("div", { class: "card" }, h("p", { class: "hint" }, t("message.hidden")));

function pollCard(view, poll) {
  if (poll.isHidden) return hiddenCard();
  return h("div", { class: "card" }, answer(view, poll),
    h("p", { class: "hint" }, told("poll.by", { name: poll.author }), " · ", poll.state !== "open" ? t("poll.closed")
      : poll.until ? t("poll.until", { time: momentTime(poll.until) }) : t("poll.open")),
    choices(
      poll.mayClose && poll.state === "open" && view.does(t("poll.close"), "closePoll", { poll: poll.id }),
      poll.isOwn && button(t("poll.delete"), () => view.sure(t("poll.deleteAsk"), t("poll.deleteText"), t("poll.delete"), "deletePoll", { poll: poll.id }), { "data-key": `delete ${poll.id}` })));
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

function itemFields(item = {}) {
  return [field("title", t("item.name"), "text", item.title ?? ""), field("due", t("item.due"), "date", item.due ?? ""), field("notes", t("item.notes"), "long", item.notes ?? "")];
}

function itemCard(view, item) {
  if (item.isHidden) return hiddenCard();
  const change = () => view.asks(t("item.change"), itemFields(item), t("view.save"), (values) => {
    const changed = Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== (item[key] ?? "")));
    return Object.keys(changed).length ? rpc("changeItem", { item: item.id, ...changed }) : null;
  });
  const isDone = item.doneBy !== undefined;
  return h("div", { class: "card" },
    h("label", { class: "choice" },
      h("input", { type: "checkbox", checked: isDone, "data-key": `done ${item.id}`, onchange: () => view.attempt(() => rpc("changeItem", { item: item.id, done: !isDone })) }),
      foreign("span", { class: "name" }, item.title)),
    item.otherTitles.length > 0 && foreign("p", { class: "warning" }, t("item.other", { titles: item.otherTitles.join(" · ") })),
    item.notes && foreign("p", { class: "description" }, item.notes),
    h("p", { class: "hint" }, isDone ? told("item.doneBy", { name: item.doneBy }) : item.due ? t("item.dueOn", { time: item.due }) : t("item.noDue"),
      item.assignees.length > 0 && foreign("bdi", {}, ` · ${listed(item.assignees)}`)),
    choices(button(t("item.change"), change, { "data-key": `change ${item.id}` }),
      item.isOwn && button(t("item.delete"), () => view.sure(t("item.deleteAsk"), t("item.deleteText"), t("item.delete"), "deleteItem", { item: item.id }), { "data-key": `delete ${item.id}` })));
}

addView(/^#\/together\/([0-9a-f]{64})$/, (id) => {
  const of = conversation(id);
  const view = new View(of ? of.name : t("together.title"), `#/c/${id}`);
  view.add(choices(
    button(t("poll.new"), () => askPoll(view, id), { class: "lead" }),
    button(t("item.new"), () => view.asks(t("item.new"), itemFields(), t("item.make"), ({ title, due, notes }) =>
      rpc("createItem", { conversation: id, title, assignees: [], ...(due && { due }), ...(notes && { notes }) })), { class: "lead" })));
  view.part(async () => {
    const [polls, items] = await Promise.all([rpc("polls", { conversation: id }), rpc("items", { conversation: id })]);
    return { polls, items };
  }, ({ polls, items }) => {
    const parts = [...group(t("poll.title"), polls.map((each) => pollCard(view, each))), ...group(t("item.title"), items.map((each) => itemCard(view, each)))];
    return parts.length ? parts : h("p", { class: "hint" }, t("together.none"));
  }, "poll", "item");
  return view;
});
