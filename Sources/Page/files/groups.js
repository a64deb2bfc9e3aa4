// Groups: a new one, who is in one and what holds there.
import { bdi, foreign, h, hint, note } from "./dom.js";
import { conversationActions } from "./chatmenu.js";
import { standing } from "./head.js";
import { inviteFields, pictureButtons, shownLink } from "./people.js";
import { picture } from "./pictures.js";
import { conversation } from "./store.js";
import { View, addView, ask, button, choices, field, form, group, lookalikes, menu, openDialog, rpc, told } from "./view.js";
import { inUnit, momentTime, t } from "./words.js";

const roles = ["reader", "member", "admin", "owner"];
const roleWords = (all) => all.map((each) => [each, t(`role.${each}`)]);

// MARK: A new group

/** Contacts to choose from. */
function contactChoice(contacts) {
  return h("fieldset.people-choice", {}, h("legend", {}, t("group.who")),
    contacts.length ? contacts.map((each) => field("members", [bdi(each.name), each.resembles.length > 0 && note(` ${each.person.slice(0, 8)}`)].filter(Boolean), "check", false, { value: each.person }))
      : hint(t("group.nobody")));
}

const acceptedContacts = async () => (await rpc("contacts")).filter((each) => each.state === "accepted");

addView(/^#\/group$/, () => {
  const view = new View(t("group.new"), "#/people");
  acceptedContacts().then((contacts) => view.add(form(
    [field("name", t("group.name"), "text", "", { required: true }), contactChoice(contacts), hint(t("group.alone"))],
    t("group.make"), async ({ name, members }) => {
      const made = await rpc("newConversation", { name, members: members ?? [] });
      location.hash = `#/c/${made.id}`;
    })), (error) => view.attempt(() => Promise.reject(error)));
  return view;
});

// MARK: One group, and a conversation of two

addView(/^#\/g\/([0-9a-f]{64})$/, (id) => {
  const view = new View(conversation(id)?.name ?? "", `#/c/${id}`);
  const load = async () => {
    const of = await rpc("conversation", { conversation: id });
    const found = await rpc("group", { conversation: id });
    // Its keys are replaced again and again, which changes nothing that is shown.
    delete found.epoch;
    const { draft, newest, unread, unreadMentions, ...still } = of;
    return { of: still, group: found };
  };
  view.part(load, ({ of, group: found }) => drawGroup(view, of, found), "members", "conversation", "contact", "link", "preferences", "refolded");
  if (conversation(id)?.kind !== "direct") view.part(async () => (await rpc("reports", { conversation: id, limit: 100 })).reports, drawReports, "message", "members");
  if (conversation(id)?.kind !== "direct") view.part(() => readLog(id), (page) => drawLog(view, id, page), "members", "conversation");
  return view;
});

function drawGroup(view, of, found) {
  view.name(found.name);
  const own = found.members.find((each) => each.isSelf)?.role;
  const may = { lead: ["admin", "owner"].includes(own) && !of.isOut && of.kind === "group", write: ["member", "admin", "owner"].includes(own) && !of.isOut && of.kind === "group", all: own === "owner" && !of.isOut && of.kind === "group" };
  const actions = conversationActions(of, (body) => view.attempt(body), () => (location.hash = "#/"));
  const head = [
    ...standing(of).map((text) => foreign("p.warning", {}, text)),
    of.lacksEarlier && hint(t(of.holdsEarlier ? "standing.lacksSome" : "standing.lacksEarlier")),
    of.lacksShared && hint(t("standing.lacksShared")),
    lookalikes(of.resembles),
  ];
  const all = choices(...actions.map(([label, body]) => button(label, body)));
  if (of.kind === "direct") return [...head, all, ...drawMembers(view, found, may)];
  return [
    ...head,
    h("div.who-is", {}, found.hasPicture && picture("groupPicture", { conversation: of.id }),
      h("div", {}, found.description ? foreign("p.description", {}, found.description) : may.lead && hint(t("group.undescribed")),
        found.waiting.length > 0 && hint(t("group.undelivered")))),
    may.lead && choices(...leaderButtons(view, found)),
    ...drawMembers(view, found, may),
    ...drawLinks(view, found, may),
    ...drawRules(view, found, may),
    ...group(t("group.conversation"), all, !of.isOut && choices(button(t("group.leave"), () => leaves(of, found)))),
  ];
}

function leaderButtons(view, { id: conversation, name, description, hasPicture }) {
  return [
    button(t("group.rename"), () => view.asks(t("group.rename"), [field("name", t("group.name"), "text", name)], t("view.save"), (values) => rpc("rename", { conversation, ...values }))),
    button(t("group.describe"), () => view.asks(t("group.describe"), [field("text", t("group.description"), "long", description ?? "")], t("view.save"), (values) => rpc("describeGroup", { conversation, ...values }))),
    ...pictureButtons(view, hasPicture, (data) => rpc("changeGroupPicture", { conversation, picture: data })),
  ];
}

function leaves({ id: conversation }, { name }) {
  ask(told("group.leaveAsk", { name }), [], t("group.leave"), async () => {
    try {
      await rpc("leave", { conversation });
    } catch (error) {
      const text = { "last-owner": "group.lastOwner", undelivered: "group.leaveEarly" }[error.code];
      if (!text) throw error;
      ask(error.message, [], t("group.leaveAnyway"), () => rpc("leave", { conversation, anyway: true }), { text: t(text), isDangerous: true });
    }
  }, { text: t("group.leaveText"), isDangerous: true });
}

// MARK: Members

function drawMembers(view, found, may) {
  const others = found.members.filter((each) => !each.isSelf);
  return group(t("group.members", { n: found.members.length }),
    h("ul.people", {}, found.members.map((each) => memberRow(view, found, each, may))),
    ...others.filter((each) => each.resembles.length).map((each) => lookalikes([each.name, ...each.resembles])),
    (may.lead || (may.write && found.rules?.add === "everybody")) && choices(button(t("group.add"), () => adds(view, found, may))));
}

function memberRow(view, found, each, may) {
  const state = each.isInvited ? t("group.invited") : each.isSelf ? "" : each.isLinked ? t("group.linked") : each.hasAddress ? "" : t("group.noAddress");
  const words = [t(`role.${each.role}`), !each.isSelf && each.isVerified && t("person.verified"), state].filter(Boolean).join(" · ");
  const mayChange = !each.isSelf && (may.all || (may.lead && ["reader", "member"].includes(each.role)));
  return h("li", {}, h("a", { href: each.isSelf ? "#/me" : `#/p/${each.person}`, "data-key": each.person },
    h("span.name", {}, bdi(each.name), each.isSelf && ` (${t("message.you").toLocaleLowerCase()})`), note(words)),
  mayChange && button(t("group.change"), () => changes(view, found, each, may), { "data-key": `change ${each.person}`, "aria-label": t("group.changeOf", { name: each.name }) }));
}

function changes(view, { id: conversation, name: groupName }, { person, name, role }, may) {
  const possible = roles.filter((each) => may.all || ["reader", "member"].includes(each));
  menu(told("group.changeOf", { name }), [
    ...possible.filter((each) => each !== role).map((each) => [t("group.makeRole", { role: t(`role.${each}`) }), () => view.attempt(() => rpc("setRole", { conversation, person, role: each }))]),
    [t("group.remove"), () => view.sure(told("group.removeAsk", { name, group: groupName }), t("group.removeText"), t("group.remove"), "removeMember", { conversation, person })],
  ]);
}

async function adds(view, { id: conversation, members }, may) {
  const inIt = new Set(members.map((each) => each.person));
  let contacts = [];
  if (!(await view.attempt(async () => (contacts = (await acceptedContacts()).filter((each) => !inIt.has(each.person)))))) return;
  view.asks(t("group.add"), [contactChoice(contacts), field("role", t("group.role"), roleWords(roles.filter((each) => may.all || ["reader", "member"].includes(each))), "member")],
    t("group.addDo"), async ({ members: chosen, role }) => {
      for (const person of chosen ?? []) await rpc("addMember", { conversation, person, role });
    }, { text: t("group.addText") });
}

// MARK: Links and rules

function drawLinks(view, { id: conversation, invites, rules }, may) {
  const opens = may.lead || (may.write && rules.invite === "everybody");
  if (!opens && !invites.length) return [];
  const makes = () => {
    view.asks(t("group.link"), [field("role", t("group.role"), roleWords(["member", "reader"]), "member"), ...inviteFields(1, "168")], t("group.linkMake"), async ({ role, uses, hours }) => {
      const made = await rpc("inviteToGroup", { conversation, role, uses: Number(uses), hours: Number(hours) });
      const dialog = openDialog(t("group.link"), choices(button(t("view.done"), () => dialog.close(), { autofocus: true })), ...shownLink(made.link, made.invite.expires, made.invite.usesLeft, made.clockWarning));
    }, { text: t("group.linkText") });
  };
  return group(t("group.links"),
    invites.length > 0 && h("ul.plain", {}, invites.map((each) => h("li.card", {},
      h("p", {}, t(`role.${each.role}`), " · ", t("invite.left", { n: each.usesLeft }), " · ", t("invite.until", { time: momentTime(each.expires) })),
      hint(told("group.linkBy", { name: each.inviter })),
      may.lead && choices(view.does(t("invite.end"), "revokeInvite", { id: each.id }))))),
    opens && choices(button(t("group.linkMake"), makes)));
}

const ruled = ["write", "add", "pin", "invite"];

function drawRules(view, { id: conversation, history, rotationHours, rules }, may) {
  const days = history.endsWith("d") ? history.slice(0, -1) : null;
  const changes = () => view.asks(t("group.rules"), [
    field("history", t("rules.history"), [["none", t("rules.none")], ["7d", t("rules.days", { n: 7 })], ["30d", t("rules.days", { n: 30 })], ["365d", t("rules.days", { n: 365 })], ["all", t("rules.all")],
      ...(days && !["7", "30", "365"].includes(days) ? [[history, t("rules.days", { n: days })]] : [])], history),
    field("rotation", t("rules.rotation"), "number", rotationHours ?? "", { min: 1, max: 87600 }),
  ], t("view.save"), (values) => rpc("changeSettings", { conversation, history: values.history, ...(values.rotation ? { rotationHours: Number(values.rotation) } : {}) }));
  const decides = () => view.asks(t("rules.who"), ruled.map((act) => field(act, t(`rules.${act}`), ["everybody", "admins"].map((rule) => [rule, t(`rules.${rule}`)]), rules[act])),
    t("view.save"), (values) => rpc("setGroupRules", { conversation, ...values }), { text: t("rules.whoText") });
  return group(t("group.rules"),
    h("p", {}, t(days ? "rules.daysText" : `rules.${history}Text`, { n: days })),
    rotationHours && h("p", {}, t("rules.rotationText", { n: rotationHours })),
    h("ul.plain", {}, ruled.map((act) => h("li", {}, `${t(`rules.${act}`)}: ${t(`rules.${rules[act]}`)}`))),
    may.all && choices(button(t("group.change"), changes, { "aria-label": t("rules.change") }), button(t("rules.who"), decides)));
}

/** What members reported to this person, who leads the group. */
const drawReports = (reports) => group(t("report.all"), reports.map((each) => h("div.card", {},
  hint(told("report.by", { name: each.reporter })),
  typeof each.message?.text === "string" ? foreign("p.description", {}, each.message.text) : hint(t("message.missing")),
  each.words.text && foreign("p", {}, each.words.text))));

// MARK: What changed

const logPageCount = 50;

/** The newest changes, or those before a place; of people who went, how much of theirs is hidden. */
const readLog = async (id, before = null) => {
  const [page, events] = await Promise.all([rpc("groupLog", { conversation: id, limit: logPageCount, before }), rpc("events", { conversation: id })]);
  const hidden = new Map(events.map((each) => [`${each.change} ${each.time}`, each]));
  for (const each of page.entries) each.hidden = hidden.get(`${each.change} ${each.time}`);
  return page;
};

/** How long messages stay, in the words of the language. */
function stay(seconds) {
  const [unit, size] = seconds % 86_400 === 0 ? ["day", 86_400] : seconds % 3_600 === 0 ? ["hour", 3_600] : ["minute", 60];
  return inUnit(seconds / size, unit);
}

/** What a change of the rules says. */
function changedRules({ history, rotationHours, ...entry }) {
  const days = /^(\d+)d$/.exec(history ?? "")?.[1];
  return [
    history && t(days ? "rules.daysText" : `rules.${history}Text`, { n: Number(days) }),
    rotationHours && t("rules.rotationText", { n: rotationHours }),
    ...ruled.filter((act) => entry[act]).map((act) => `${t(`rules.${act}`)}: ${t(`rules.${entry[act]}`)}.`),
  ].filter(Boolean).join(" ");
}

/** The words for a change, and what they are filled with. */
function logWords(entry) {
  const more = { name: entry.persons.join(", "), author: entry.author ?? t("log.somebody"), role: entry.role ? t(`role.${entry.role}`) : "" };
  switch (entry.change) {
    case "joined": return [entry.author ? "joined" : "came", more];
    case "devices-added": return ["devices", more];
    case "device-revoked": return ["revoked", more];
    case "link-opened": return ["opened", more];
    case "link-closed": return ["closed", more];
    case "name": return ["named", { ...more, text: entry.text }];
    case "description": return [entry.text ? "described" : "undescribed", { ...more, text: entry.text }];
    case "picture": return [entry.isShown ? "picture" : "unpictured", more];
    case "lifetime": return [entry.seconds ? "lifetime" : "stays", { ...more, time: stay(entry.seconds || 60) }];
    case "settings": return ["settings", { ...more, text: changedRules(entry) }];
    case "created": case "added": case "removed": case "left": case "declined": case "role": case "pinned": case "unpinned": return [entry.change, more];
    default: return ["unknown", more];
  }
}

function logLine(entry) {
  const [words, more] = logWords(entry);
  const { hiddenCount, hiddenChangeCount } = entry.hidden ?? {};
  return h("li", {}, h("span", {}, told(`log.${words}`, more), hiddenCount && ` ${t("log.hidden", { n: hiddenCount })}`,
    hiddenChangeCount && ` ${t("log.changesHidden", { n: hiddenChangeCount })}`), " ",
    h("time.hint", {}, momentTime(entry.time)));
}

function drawLog(view, id, page) {
  const lines = (entries) => entries.map(logLine).reverse();
  if (page.entries.length < 2) return [];
  const list = h("ol.plain", {}, lines(page.entries));
  let before = page.before;
  const more = button(t("menu.more"), () => view.attempt(async () => {
    const next = await readLog(id, before);
    list.append(...lines(next.entries));
    before = next.before;
    more.hidden = !before;
  }));
  more.hidden = !before;
  return h("details.log", {}, h("summary", {}, t("log.title")), list, choices(more));
}

