// What one's own node is: its devices, its relays, what is told to others, and what waits.
import { lifetimes } from "./chatmenu.js";
import { code } from "./codes.js";
import { bdi, foreign, h, hint, note } from "./dom.js";
import { hereSettings } from "./here.js";
import { on, passOver } from "./store.js";
import { View, addView, alone, button, choices, commandHere, field, group, openDialog, passOn, prose, rpc, short, told } from "./view.js";
import { inUnit, momentTime, t } from "./words.js";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** A count of bytes in the unit that keeps it short. */
function size(count) {
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return inUnit(count / 1000 ** unit, units[unit]);
}

// MARK: Devices

const deviceName = (each) => each.name || short(each.device);

function deviceCard(view, each) {
  const name = deviceName(each);
  const state = each.state !== "active" ? t(`device.${each.state}`) : each.isThis ? t("device.this")
    : each.isLinked ? t("device.linked") : each.lastSeen ? t("device.seen", { time: momentTime(each.lastSeen) }) : t("device.never");
  const revoke = () => view.asks(t("device.revokeAsk", { name }),
    each.needsRecoveryCode ? [field("recoveryCode", t("device.recoveryCode"), "text", "", { dir: "ltr", spellcheck: "false" })] : [],
    t("device.revoke"), ({ recoveryCode }) => rpc("revokeDevice", { device: each.device, ...(recoveryCode && { recoveryCode }) }),
    { text: t("device.revokeText"), isDangerous: true });
  return h("div.card", {},
    h("p", {}, foreign("bdi.name", {}, name), " ", h("code", { dir: "ltr", title: each.device }, short(each.device))),
    hint(state),
    each.state === "active" && choices(
      button(t("device.rename"), () => view.asks(t("device.rename"), [field("name", t("device.name"), "text", each.name)], t("view.save"),
        ({ name }) => rpc("renameDevice", { device: each.device, name })), { "data-key": `rename ${each.device}`, "aria-label": t("device.renameOf", { name }) }),
      !each.isThis && button(t("device.revoke"), revoke, { "data-key": `revoke ${each.device}`, "aria-label": t("device.revokeOf", { name }) })));
}

const confirmTime = 2000;

/** Waits for one new device as long as the dialog is open, and ends with it. First the person confirms it outside of the page. */
async function linkDevice(view) {
  let link;
  if (!(await view.attempt(async () => { link = await rpc("openLink"); }))) return;
  const place = h("div", { role: "status" }, h("p", {}, t("device.confirm", { time: momentTime(link.expires) })),
    h("p", {}, commandHere(`parley device confirm ${link.code}`)));
  const element = openDialog(t("device.link"), place, choices(button(t("device.linkEnd"), () => element.close())));
  const timer = setInterval(async () => {
    let found;
    try {
      found = await rpc("confirmedLink", { code: link.code });
    } catch (error) {
      if (error.code === "unknown-code") element.close();
      else passOver(error);
      return;
    }
    if (!found.text || place.querySelector(".link")) return;
    clearInterval(timer);
    place.replaceChildren(h("p", {}, prose(t("device.linkText", { time: momentTime(found.expires) }))),
      code(found.text, t("device.linkPicture")), ...passOn(found.text, t("device.linkCode")));
  }, confirmTime);
  const end = on("event", (change) => change.kind === "devices" && element.close());
  element.addEventListener("close", () => {
    end();
    clearInterval(timer);
    view.attempt(() => rpc("closeLink"));
  }, { once: true });
}

addView(/^#\/devices$/, () => {
  const view = new View(t("devices.title"), "#/settings");
  view.add(choices(button(t("device.link"), () => alone(() => linkDevice(view)), { class: "lead" })));
  view.part(() => rpc("devices"), (devices) => devices.map((each) => deviceCard(view, each)), "devices", "link");
  view.part(() => rpc("pageSessions"), (sessions) => group(t("sessions.title"), ...sessions.map(({ name, created, used }) => h("div.card", {},
    foreign("p.name", {}, name), hint(t("sessions.since", { since: momentTime(created), used: momentTime(used) })),
    choices(view.does(t("sessions.end"), "endPageSession", { called: name }, { "aria-label": t("sessions.endOf", { name }) }))))));
  return view;
});

// MARK: Relays

const relayName = (each) => each.addresses[0] ?? short(each.relay);

addView(/^#\/relays$/, () => {
  const view = new View(t("relays.title"), "#/settings");
  view.add(h("p", {}, t("relays.text")), choices(button(t("relay.add"), () => view.asks(t("relay.add"), [
    field("text", t("relay.text"), "long", "", { dir: "ltr", spellcheck: "false" }),
    field("ticket", t("relay.ticket"), "text", "", { dir: "ltr", spellcheck: "false" }),
  ], t("relay.addDo"), ({ text, ticket }) => rpc("addRelay", { text, tickets: ticket ? [ticket] : [] })), { class: "lead" })));
  view.part(() => rpc("relays"), (relays) => relays.length ? relays.map((each) => h("div.card", {},
    foreign("p.name", {}, relayName(each)),
    hint(t(`relay.${each.state}`), each.until ? ` · ${t("relay.until", { time: momentTime(each.until) })}` : ""),
    !each.until && choices(button(t("relay.move"), () => view.asks(t("relay.moveOf", { name: relayName(each) }),
      [field("text", t("relay.text"), "long", "", { dir: "ltr", spellcheck: "false" })], t("relay.move"),
      ({ text }) => rpc("moveRelay", { name: each.relay, text }), { text: t("relay.moveText") }),
    { "data-key": `move ${each.relay}`, "aria-label": t("relay.moveOf", { name: relayName(each) }) }), button(t("relay.remove"),
      () => view.sure(t("relay.removeAsk", { name: relayName(each) }), t("relay.removeText"), t("relay.remove"), "removeRelay", { name: each.relay }),
      { "data-key": `remove ${each.relay}`, "aria-label": t("relay.removeOf", { name: relayName(each) }) }))))
    : hint(t("relays.none")), "relays", "link");
  view.part(() => rpc("callSettings"), ({ servers }) => [
    ...group(t("turn.title"), h("p", {}, t("turn.text"))),
    ...servers.map(({ address, name }) => h("div.card", {}, h("p", {}, h("code", { dir: "ltr" }, address), name && note(" ", bdi(name))),
      choices(view.does(t("relay.remove"), "removeTurnServer", { address }, { "aria-label": t("relay.removeOf", { name: address }) })))),
    choices(button(t("turn.add"), () => askServer(view))),
  ]);
  return view;
});

/** What is left empty is not asked for. */
const askServer = (view) => view.asks(t("turn.add"), [
  field("address", t("turn.address"), "text", "", { dir: "ltr", spellcheck: "false", placeholder: "turn:turn.example:3478" }), field("name", t("turn.name")),
  ...["password", "secret"].map((each) => field(each, t(`turn.${each}`), "password")),
], t("relay.addDo"), (values) => rpc("addTurnServer", Object.fromEntries(Object.entries(values).filter(([, value]) => value))));

// MARK: Settings

function drawSettings(view, { presences, disclosures, usual, links, room, status, policy }) {
  const gigabyte = 1e9;
  return [
    h("p.links", {}, [["me", "me.title"], ["devices", "devices.title"], ["relays", "relays.title"], ["status", "status.title"]]
      .map(([to, words]) => h("a", { href: `#/${to}` }, t(words)))),
    ...group(t("settings.presence"), h("p", {}, t(`presence.own.${presences.own}`)), choices(...["online", "away", "offline"].map((presence) =>
      view.does(t(`presence.be.${presence}`), "setPresence", { presence }, { "aria-pressed": String(presences.own === presence) })))),
    ...group(t("settings.told"), h("p", {}, t(`told.${presences.told}`)), choices(button(t("settings.toldChange"), () => view.asks(t("settings.told"), [
      field("told", t("settings.told"), ["everything", "now", "nothing"].map((each) => [each, t(`told.${each}`)]), presences.told),
    ], t("view.save"), ({ told }) => rpc("setPrivacy", { told }))))),
    ...group(t("settings.disclosed"), h("p", {}, t(disclosures.receipts ? "disclosed.receipts" : "disclosed.noReceipts")), h("p", {}, t(disclosures.typing ? "disclosed.typing" : "disclosed.noTyping")),
      choices(view.does(t(disclosures.receipts ? "disclosed.endReceipts" : "disclosed.beginReceipts"), "setDisclosures", { receipts: disclosures.receipts ? "off" : "on" }, { "data-key": "receipts" }),
        view.does(t(disclosures.typing ? "disclosed.endTyping" : "disclosed.beginTyping"), "setDisclosures", { typing: disclosures.typing ? "off" : "on" }, { "data-key": "typing" }))),
    ...group(t("additions.title"), h("p", {}, t("additions.text")), choices(...["contacts", "nobody"].map((each) =>
      view.does(t(`additions.${each}`), "setAdditionPolicy", { policy: each }, { "aria-pressed": String(policy === each) })))),
    ...group(t("chat.disappear"), h("p", {}, t("settings.usualText")), choices(...lifetimes.map(([words, seconds]) =>
      view.does(t(words), "setUsualLifetime", { seconds }, { "aria-pressed": String((usual.seconds ?? 0) === seconds), "data-key": `usual ${seconds}` })))),
    ...group(t("settings.links"), h("p", {}, t(links.isOn ? "settings.linksOn" : "settings.linksOff")),
      choices(view.does(t(links.isOn ? "settings.linksEnd" : "settings.linksBegin"), "setLinkSettings", { isOn: !links.isOn }, { "data-key": "links" }))),
    ...group(t("settings.room"),
      h("p", {}, t("settings.roomText", { used: size(room.usedByteCount), room: size(room.roomByteCount), days: room.keptDayCount, most: size(room.fetchByteCountMax) })),
      choices(button(t("settings.roomChange"), () => view.asks(t("settings.room"), [
        field("room", t("settings.roomGigabytes"), "number", room.roomByteCount / gigabyte, { min: 0, step: "any" }),
        field("days", t("settings.roomDays"), "number", room.keptDayCount, { min: 0 }),
        field("most", t("settings.roomMost"), "number", room.fetchByteCountMax / 1e6, { min: 0, step: "any" }),
      ], t("view.save"), ({ room, days, most }) => rpc("setFileRoom", {
        roomByteCount: Math.round(room * gigabyte), keptDayCount: Math.round(days), fetchByteCountMax: Math.round(most * 1e6),
      }))))),
    ...group(t("settings.recovery"), h("p", {}, status.recoveryCheckTime ? t("settings.recoveryChecked", { time: momentTime(status.recoveryCheckTime) }) : t("settings.recoveryUnchecked")),
      hint(prose(t("settings.recoveryHow")))),
    ...group(t("settings.network"), h("p", {}, t(status.isOffline ? "settings.offline" : "settings.online")),
      choices(view.does(t(status.isOffline ? "settings.goOnline" : "settings.goOffline"), "setOffline", { on: !status.isOffline }, { "data-key": "offline" }))),
  ];
}

addView(/^#\/settings$/, () => {
  const view = new View(t("settings.title"));
  view.add(...hereSettings());
  view.part(async () => {
    const [{ own, told }, disclosures, usual, links, room, { isOffline, recoveryCheckTime }, { policy }] = await Promise.all(["presences", "disclosures", "usualLifetime", "linkSettings", "fileRoom", "status", "invitations"].map((each) => rpc(each)));
    return { presences: { own, told }, disclosures, usual, links, room, status: { isOffline, recoveryCheckTime }, policy };
  }, (found) => drawSettings(view, found), "preferences");
  return view;
});

// MARK: Status

addView(/^#\/status$/, () => {
  const view = new View(t("status.title"), "#/settings");
  view.part(async () => {
    const [status, conversations, outbox] = await Promise.all(["status", "conversations", "outbox"].map((each) => rpc(each)));
    const { links, warnings, notices, pendingCount, isOffline, isCatchingUp, readOnlyReason, isRevoked, databaseByteCount, conversationCount } = status;
    return {
      links, warnings, notices, pendingCount, isOffline, isCatchingUp, readOnlyReason, isRevoked, databaseByteCount, conversationCount,
      stuck: outbox.filter((each) => each.unknownCount + each.strandedCount > 0).map(({ conversation, name, unknownCount, strandedCount }) => ({ conversation, name, unknownCount, strandedCount })),
      full: outbox.flatMap(({ conversation, name, fullRelayNames }) => (fullRelayNames ?? []).map((relay) => ({ conversation, name, relay }))),
      waits: conversations.filter((each) => each.waitingFor).map(({ id, name, waitingFor }) => ({ id, name, waitingFor })),
    };
  }, (found) => [
    found.isRevoked ? h("p.warning", {}, t("state.revoked")) : found.readOnlyReason && foreign("p.warning", {}, found.readOnlyReason),
    ...found.warnings.map((each) => h("p.warning", { dir: "auto" }, prose(each))),
    ...group(t("status.waits"), found.pendingCount ? h("p", {}, t("status.pending", { n: found.pendingCount })) : null,
      found.waits.map((each) => h("div.card", {}, foreign("a", { href: `#/c/${each.id}` }, each.name), foreign("p.hint", {}, each.waitingFor))),
      found.stuck.map((each) => h("div.card", {}, foreign("a", { href: `#/c/${each.conversation}` }, each.name),
        each.unknownCount > 0 && hint(t("status.unknown", { n: each.unknownCount })),
        each.strandedCount > 0 && hint(t("status.stranded", { n: each.strandedCount })))),
      found.full.map((each) => h("div.card", {}, foreign("a", { href: `#/c/${each.conversation}` }, each.name),
        hint(told("status.full", { relay: each.relay })))),
      !found.pendingCount && !found.waits.length && !found.stuck.length && !found.full.length && hint(t("status.nothing"))),
    ...group(t("status.notices"), found.notices.map((each) => h("p", { dir: "auto" }, prose(each)))),
    ...group(t("status.links"), found.isOffline ? h("p", {}, t("settings.offline")) : null,
      found.links.map((each) => h("div.card", {}, foreign("p.name", {}, each.name), h("p.hint", { dir: "ltr" }, each.address))),
      !found.links.length && hint(t("status.nobody"))),
    hint(t("status.size", { size: size(found.databaseByteCount), n: found.conversationCount })),
  ], "link", "relays", "clocks", "message", "conversation", "devices");
  return view;
});
