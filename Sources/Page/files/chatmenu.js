// What one does with a conversation as a whole.
import { ask, menu, rpc, told } from "./view.js";
import { t } from "./words.js";

/** How long messages may stay, in seconds. */
/** After how many seconds messages disappear, with the words for it. */
export const lifetimes = [["disappear.off", 0], ["disappear.hour", 3600], ["disappear.day", 86400], ["disappear.week", 604800], ["disappear.month", 2419200]];

/** Whether others in a conversation see what one reads and that one types. */
async function askDisclosed(of, act) {
  const found = await rpc("disclosures");
  const own = found.conversations.find((each) => each.conversation === of.id) ?? {};
  const lines = (what) => [["usual", undefined], ["on", true], ["off", false]].map(([word, value]) => [
    `${(own[what] ?? undefined) === value ? "✓ " : ""}${t(`disclosed.${what}Word`)}: ${t(word === "usual" ? (found[what] ? "disclosed.usualOn" : "disclosed.usualOff") : `disclosed.${word}`)}`,
    () => act("setDisclosures", { [what]: word }),
  ]);
  menu(t("disclosed.ask"), [...lines("receipts"), ...lines("typing")]);
}

/** What one may have done with a conversation. */
export function conversationActions(of, attempt, gone) {
  const act = (method, params = {}) => attempt(() => rpc(method, { conversation: of.id, ...params }));
  return [
    [t(of.isKeptFirst ? "chat.notFirst" : "chat.first"), () => act("keepFirst", { on: !of.isKeptFirst })],
    [t(of.isArchived ? "chat.unarchive" : "chat.archive"), () => act("archive", { on: !of.isArchived })],
    of.isMuted ? [t("chat.unmute"), () => act("mute", { on: false })] : [t("chat.mute"), () => menu(t("chat.muteAsk"), [
      [t("chat.hours", { n: 8 }), () => act("mute", { on: true, hours: 8 })],
      [t("chat.week"), () => act("mute", { on: true, hours: 168 })],
      [t("chat.always"), () => act("mute", { on: true })],
    ])],
    [t("chat.disappear"), () => menu(t("chat.disappearAsk"), lifetimes.map(([word, seconds]) => [
      `${(of.lifetime ?? 0) === seconds ? "✓ " : ""}${t(word)}`, () => act("setMessageLifetime", { seconds }),
    ]))],
    [t("chat.disclosed"), () => attempt(() => askDisclosed(of, act))],
    [t(of.isMarkedUnread ? "chat.markRead" : "chat.markUnread"), () => act("markUnread", { on: !of.isMarkedUnread })],
    (of.isOut || of.isInvited || of.kind === "direct") && [t("chat.delete"), () => ask(told("chat.deleteAsk", { name: of.name }), [], t("chat.delete"), async () => {
      await rpc("deleteConversation", { conversation: of.id });
      gone?.();
    }, { text: t("chat.deleteText"), isDangerous: true })],
  ].filter(Boolean);
}
