// People: who there is, one person, how two meet, and what waits for an answer.
import { code, canScan, scan } from "./codes.js";
import { announce, foreign, h, hint, namesOf, note } from "./dom.js";
import { picture, smallPicture } from "./pictures.js";
import { View, addView, button, choices, copy, field, form, group, lookalikes, ownName, passOn, prose, rpc, short, told } from "./view.js";
import { groupName } from "./waiting.js";
import { momentTime, t, timeIn } from "./words.js";

const personKinds = ["contact", "devices", "link", "preferences", "conversation", "members", "presence"];

// MARK: What waits

addView(/^#\/waiting$/, () => {
  const view = new View(t("waiting.title"));
  const answer = (label, { id }, accepting, extra) => view.does(label, "answerInvitation", { conversation: id, accepting }, extra);
  view.part(async () => {
    const [contacts, { waiting, joins }] = await Promise.all([rpc("contacts"), rpc("invitations")]);
    return { asks: contacts.filter((each) => each.state === "pending"), waiting, joins: joins.filter((each) => !each.isMember) };
  }, ({ asks, waiting, joins }) => {
    const parts = [
      ...group(t("waiting.people"), asks.map((each) => h("div.card", {},
        h("p", {}, told("waiting.asks", { name: each.name }), " ", h("a", { href: `#/p/${each.person}`, class: "hint" }, short(each.person))),
        lookalikes(each.resembles), answers(view, each)))),
      ...group(t("waiting.groups"), waiting.map((each) => h("div.card", {},
        h("p", {}, told("waiting.invites", { name: each.inviter, group: groupName(each.name) })),
        hint(t("waiting.count", { n: each.memberCount }), " · ", momentTime(each.since)),
        choices(answer(t("waiting.join"), each, true, { class: "lead" }), answer(t("waiting.decline"), each, false))))),
      ...group(t("waiting.links"), joins.map((each) => h("div.card", {},
        h("p", {}, told(each.isRefused ? "waiting.refused" : "waiting.join.wait", { name: each.inviter, group: groupName(each.name) })),
        !each.isRefused && hint(t("invite.until", { time: momentTime(each.expires) })),
        choices(view.does(t("waiting.withdraw"), "withdrawJoin", { conversation: each.id }))))),
    ];
    return parts.length ? parts : hint(t("waiting.none"));
  }, "contact", "invitation", "invitations", "members", "conversation");
  return view;
});

/** What one answers somebody who asks. */
const answers = (view, each) => choices(decides(view, each, "accept", { class: "lead" }), decides(view, each, "decline"), blocks(view, each));

const decides = (view, { person }, decision, extra) => view.does(t(`person.${decision}`), "decide", { person, decision }, extra);

const blocks = (view, { person, name }) => button(t("person.block"), () =>
  view.sure(told("person.blockAsk", { name }), t("person.blockText"), t("person.block"), "decide", { person, decision: "block" }), { "data-key": `block ${person}` });

// MARK: Everybody

const order = ["pending", "accepted", "invited", "requested", "refused", "known", "declined"];

function personRow(each, presences, ...more) {
  const state = each.state === "accepted" ? (each.isVerified ? t("person.verified") : "") : t(`person.state.${each.state}`);
  const presence = presences.get(each.person);
  return h("li", {}, h("a", { href: `#/p/${each.person}`, "data-key": each.person },
    foreign("span.name", {}, each.name),
    note([state, presence, each.notices.length && t("people.notices", { n: each.notices.length })].filter(Boolean).join(" · "))), ...more);
}

/** Whom one blocked, each with a way back. */
function blockedRows(view, blocked, presences) {
  return group(t("people.blocked"), blocked.length > 0 && h("ul.people", {}, blocked.map((each) =>
    personRow(each, presences, decides(view, each, "unblock", { "aria-label": t("people.unblock", { name: each.name }) })))));
}

/** Who is there, by the person: in words. */
async function presenceWords() {
  const { people } = await rpc("presences");
  return new Map(people.filter((each) => each.presence !== "offline").map((each) => [each.person, t(`presence.${each.presence}`)]));
}

addView(/^#\/people$/, () => {
  const view = new View(t("people.title"));
  view.add(h("p.links", {}, h("a", { href: "#/meet" }, t("people.meet")), h("a", { href: "#/group" }, t("people.group")), h("a", { href: "#/me" }, t("people.me")), h("a", { href: "#/settings" }, t("settings.title"))));
  const find = h("input", { type: "search", class: "filter", "aria-label": t("people.find"), placeholder: t("people.find"), oninput: () => filter() });
  view.add(find);
  const filter = () => {
    const words = find.value.trim().toLocaleLowerCase();
    for (const row of part.querySelectorAll("li")) row.hidden = !row.textContent.toLocaleLowerCase().includes(words);
  };
  const part = view.part(async () => ({ contacts: await rpc("contacts"), presences: [...await presenceWords()] }), ({ contacts, presences }) => {
    setTimeout(filter);
    find.hidden = contacts.length < 8;
    if (!contacts.length) return hint(t("people.none"));
    const there = new Map(presences);
    const sorted = order.map((state) => contacts.filter((each) => each.state === state)).flat();
    const blocked = contacts.filter((each) => each.state === "blocked");
    return [sorted.length > 0 && h("ul.people", {}, sorted.map((each) => personRow(each, there))), ...blockedRows(view, blocked, there)];
  }, ...personKinds);
  return view;
});

// MARK: One person

addView(/^#\/p\/([0-9a-f]{64})$/, (person) => {
  const view = new View("");
  const load = async () => {
    const contact = (await rpc("contacts")).find((each) => each.person === person) ?? null;
    if (!contact) return { contact };
    const attempt = (method, params) => rpc(method, params).catch((error) => {
      if (!error.code) throw error;
      return null;
    });
    const [profile, number, conversation, presences] = await Promise.all([
      attempt("profile", { person }), attempt("safetyNumber", { person }), attempt("conversation", { conversation: person }), presenceWords(),
    ]);
    return { contact, profile, number, talk: conversation?.id, presence: presences.get(person), own: ownName() };
  };
  view.part(load, (found) => drawPerson(view, found), ...personKinds);
  return view;
});

function drawPerson(view, { contact, profile, number, talk, presence }) {
  if (!contact) {
    view.name(t("person.unknown"));
    return hint(t("person.unknownText"));
  }
  const { person, name, state } = contact;
  view.name(name);
  const rename = () => view.asks(told("person.aliasAsk", { name }), [field("alias", t("person.alias"), "text", name)], t("view.save"),
    ({ alias }) => rpc("setAlias", { person, ...(alias ? { alias } : {}) }), { text: t("person.aliasText") });
  return [
    h("div.who-is", {},
      profile?.hasPicture && picture("picture", { person }),
      h("div", {},
        profile?.status && foreign("p", {}, profile.status),
        hint([state === "accepted" ? null : t(`person.state.${state}`), presence, contact.isVerified && t("person.verified"), localTime(profile?.timeZone), profile?.language].filter(Boolean).join(" · ")),
        hint(t("person.identifier"), " ", h("code", { dir: "ltr", title: person }, short(person))))),
    lookalikes(contact.resembles),
    ...contact.notices.map((text) => h("p.warning", { dir: "auto" }, prose(text))),
    state === "pending" ? answers(view, contact) : choices(
      talk && h("a.button.lead", { href: `#/c/${talk}` }, t("person.write")),
      button(t("person.rename"), rename),
      state === "declined" && decides(view, contact, "accept"),
      state === "known" && view.does(t("person.ask"), "requestContact", { card: person }),
      state === "blocked" ? decides(view, contact, "unblock") : blocks(view, contact)),
    ...(number ? safety(view, contact, number) : []),
  ];
}

function localTime(zone) {
  if (!zone) return null;
  try {
    return t("person.time", { time: timeIn(zone) });
  } catch {
    // A zone that this browser does not know.
    return zone;
  }
}

function safety(view, { person, name, isVerified, notices }, number) {
  const compare = (text) => view.attempt(async () => {
    await rpc("verify", { person, code: text });
    announce(t("safety.equal"));
  });
  const byCode = async () => {
    const text = await scan();
    if (text) await compare(text);
  };
  const paste = () => view.asks(t("safety.paste"), [field("code", t("safety.code"), "long", "", { dir: "ltr" })], t("safety.compare"), ({ code }) => rpc("verify", { person, code }));
  const equal = () => view.asks(told("safety.equalAsk", { name }), [], t("safety.same"), () => rpc("markVerified", { person }), { text: t("safety.equalText") });
  return group(t("safety.title"),
    h("p", {}, told(isVerified ? "safety.done" : "safety.open", { name })),
    h("p.safety", { dir: "ltr", "aria-label": t("safety.number") }, number.number.split(" ").map((part) => h("span", {}, `${part} `))),
    h("details", { open: !isVerified }, h("summary", {}, t("safety.picture")),
      code(number.code, t("safety.pictureOf")), hint(t("safety.how")),
      choices(button(t("view.copyCode"), () => copy(number.code)))),
    choices(
      (!isVerified || notices.length > 0) && button(t("safety.same"), equal),
      canScan() && button(t("safety.scan"), byCode), button(t("safety.paste"), paste)));
}

// MARK: Oneself

addView(/^#\/me$/, () => {
  const view = new View(t("me.title"), "#/people");
  view.part(() => rpc("profile"), (profile) => [
    h("div.who-is", {}, profile.hasPicture && picture("picture", {}),
      h("div", {}, foreign("p.name", {}, profile.name), profile.status && foreign("p", {}, profile.status),
        hint(t("person.identifier"), " ", h("code", { dir: "ltr", title: profile.person }, short(profile.person))))),
    choices(
      button(t("me.edit"), () => view.asks(t("me.edit"), [
        field("name", t("me.name"), "text", profile.name), field("status", t("me.status"), "text", profile.status ?? ""),
        field("language", t("me.language"), "text", profile.language ?? "", { placeholder: navigator.language, dir: "ltr" }),
        field("timeZone", t("me.zone"), "text", profile.timeZone ?? "", { placeholder: Intl.DateTimeFormat().resolvedOptions().timeZone, dir: "ltr" }),
      ], t("view.save"), async ({ name, ...said }) => {
        if (name !== profile.name) await rpc("renameSelf", { name });
        const changed = Object.fromEntries(Object.entries(said).filter(([key, value]) => value !== (profile[key] ?? "")));
        if (Object.keys(changed).length) await rpc("changeProfile", changed);
      }, { text: t("me.text") })),
      ...pictureButtons(view, profile.hasPicture, (data) => rpc("changeProfile", { picture: data }))),
  ], "preferences", "contact", "devices", "conversation");
  view.part(async () => (await rpc("card")).text, (text) => group(t("me.card"), h("p", {}, t("me.cardText")),
    code(text, t("me.cardPicture")), ...passOn(text, t("me.card"))));
  return view;
});

// MARK: How two meet

const lifetimes = () => [["24", t("invite.days", { n: 1 })], ["48", t("invite.days", { n: 2 })], ["168", t("invite.days", { n: 7 })], ["720", t("invite.days", { n: 30 })]];
export const inviteFields = (uses, hours) => [
  field("uses", t("invite.uses"), "number", uses, { min: 1, max: 1000, inputmode: "numeric" }),
  field("hours", t("invite.lasts"), lifetimes(), hours),
];

/** A link as a picture and as text, with how long it works. */
export function shownLink(link, expires, uses, clockWarning) {
  return [h("p", {}, t("invite.times", { n: uses, time: momentTime(expires) })),
    code(link, t("invite.picture")), ...passOn(link, t("invite.link")), clockWarning && foreign("p.warning", {}, clockWarning)].filter(Boolean);
}

function obstacle(invite) {
  if (["removed", "mistaken"].includes(invite.relayState)) return t("invite.lost");
  if (invite.relayState === "leaving") return t("invite.leaving");
  if (invite.relay) return invite.isWaitingForRelay ? told("invite.relayWaits", { name: invite.relay }) : told("invite.relay", { name: invite.relay });
  return invite.addresses.length ? t("invite.near") : t("invite.nowhere");
}

addView(/^#\/meet$/, () => meetView());

/** How one begins, and how two meet. */
export function meetView(isFirst = false) {
  const view = new View(t(isFirst ? "meet.first" : "meet.title"));
  if (isFirst) view.add(h("p.lede", {}, told("meet.firstText", { name: ownName() })));
  const shown = h("div.shown-link", { "aria-live": "polite" });
  let open;
  const show = (invite) => (open = invite.id) && shown.replaceChildren(...shownLink(invite.link, invite.expires, invite.usesLeft, invite.clockWarning), hint(obstacle(invite)));
  view.add(h("section", {}, h("h2", {}, t("meet.give")), h("p", {}, t("meet.giveText")),
    form(inviteFields(1, "48"), t("meet.make"), async ({ uses, hours }) => {
      show(await rpc("invite", { uses: Number(uses), hours: Number(hours) }));
      view.reread();
    }), shown));
  view.add(takePart(view));
  view.part(() => rpc("invites"), (all) => {
    const invites = all.filter((each) => !each.group);
    if (open && !invites.some((each) => each.id === open)) shown.replaceChildren(h("p", {}, t("invite.gone")));
    return group(t("meet.open"), invites.length > 0 && h("ul.plain", {}, invites.map((each) => h("li.card", {},
      h("p", {}, t("invite.left", { n: each.usesLeft }), " · ", t("invite.until", { time: momentTime(each.expires) })),
      each.guests.length > 0 && hint(t("invite.taken"), " ", namesOf(each.guests)),
      hint(obstacle(each)),
      choices(button(t("invite.show"), () => (show(each), shown.scrollIntoView({ block: "center" })), { "data-key": `show ${each.id}` }),
        view.does(t("invite.end"), "revokeInvite", { id: each.id }))))));
  }, "contact", "relays", "preferences", "conversation");
  return view;
}

/** Takes whatever somebody passed on: an invite, a link into a group, or a card. */
function takePart() {
  const answer = h("div", { role: "status" });
  const link = field("link", t("meet.link"), "long", "", { dir: "ltr", required: true });
  const take = async ({ link, alias }) => {
    answer.replaceChildren();
    const extra = alias ? { alias } : {};
    if (/^\s*parley\s*:\s*g1/.test(link)) {
      const join = await rpc("joinGroup", { link });
      answer.replaceChildren(h("p", {}, told(join.isRefused ? "waiting.refused" : join.isMember ? "meet.in" : "waiting.join.wait", { name: join.inviter, group: groupName(join.name) })));
    } else {
      const isCard = /^\s*parley\s*:\s*c1/.test(link);
      const contact = isCard ? await rpc("requestContact", { card: link, ...extra }) : await rpc("accept", { link, ...extra });
      answer.replaceChildren(
        h("p", {}, told(contact.state === "refused" ? "meet.refused" : contact.isWritable ? "meet.met" : isCard ? "meet.asked" : "meet.waits", { name: contact.name }), " ",
          h("a", { href: `#/p/${contact.person}` }, t("meet.look"))), lookalikes(contact.resembles) || "");
    }
    taken.reset();
  };
  const taken = form([link, field("alias", t("meet.alias"))], t("meet.take"), take, {
    before: canScan() && button(t("meet.scan"), async () => {
      const text = await scan();
      if (!text) return;
      taken.elements.link.value = text;
      taken.requestSubmit();
    }),
  });
  return h("section", {}, h("h2", {}, t("meet.have")), h("p", {}, t(canScan() ? "meet.haveText" : "meet.haveNoCamera")), taken, answer);
}

/** Buttons that show another picture, or none. */
export function pictureButtons(view, hasPicture, keep) {
  const input = h("input", { type: "file", accept: "image/*", class: "unseen", tabindex: "-1", "aria-hidden": "true", onchange: () => view.attempt(async () => {
    const [file] = input.files;
    input.value = "";
    if (file) await keep(await smallPicture(file));
  }) });
  return [input, button(t(hasPicture ? "picture.other" : "picture.add"), () => input.click()),
    hasPicture && button(t("picture.remove"), () => view.attempt(() => keep("")))];
}
