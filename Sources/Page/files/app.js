// Where the page begins: lets the browser in, shows the list and one conversation, and says how the node is.
import { Away, Locked, enter, leave, rpc } from "./api.js";
import { Composer, outgoing } from "./composer.js";
import { announce, foreign, h, icon, iconButton, paths } from "./dom.js";
import { conversation, follow, noteFailure, on, store } from "./store.js";
import { Timeline } from "./timeline.js";
import { shortTime, t } from "./words.js";

const quickReactions = ["👍", "❤️", "😂", "😮", "😢", "🙏", "🎉", "✅"];

const rows = h("ul", { class: "conversations" });
const find = h("input", {
  type: "search", "aria-label": t("app.find"), placeholder: t("app.find"), oninput: () => showList(), onkeydown: findKey,
});
const banner = h("p", { class: "banner", role: "status", hidden: true });
const pane = h("section", { class: "pane" }, h("p", { class: "hint choose" }, t("app.choose")));
const side = h("nav", { "aria-label": t("app.conversations") },
  h("header", {}, h("h1", {}, "Parley"), iconButton(paths.close, t("app.leave"), () => lock())),
  h("div", { class: "find" }, find), rows);
let shown = null;

function findKey(event) {
  if (event.key === "Escape") {
    find.value = "";
    showList();
  } else if (event.key === "Enter") rows.querySelector("a")?.click();
  else if (event.key === "ArrowDown") event.preventDefault(), rows.querySelector("a")?.focus();
}

// MARK: The list

function preview(each) {
  if (each.draft) return [h("span", { class: "draft" }, t("list.draft")), " ", foreign("bdi", {}, each.draft.slice(0, 80))];
  return each.waitingFor ? [each.waitingFor] : [];
}

function line(each) {
  const isHere = shown?.id === each.id;
  const unread = each.unread > 0 || each.isMarkedUnread;
  return h("li", { "data-id": each.id },
    h("a", { href: `#/c/${each.id}`, "aria-current": isHere ? "page" : null, class: unread ? "unread" : "" },
      foreign("span", { class: "name" }, each.name),
      each.isMuted && h("span", { class: "hint" }, t("list.muted")),
      each.newest && h("time", {}, shortTime(each.newest)),
      h("span", { class: "under" }, preview(each)),
      unread && h("span", { class: `count${each.isMuted ? " quiet-count" : ""}` },
        h("span", { "aria-hidden": "true" }, `${each.unreadMentions ? "@" : ""}${each.unread > 999 ? "999+" : each.unread || "•"}`),
        h("span", { class: "unseen" }, t("list.unread", { n: each.unread }), each.unreadMentions ? `, ${t("list.mentions")}` : ""))));
}

function showList() {
  const words = find.value.trim().toLocaleLowerCase();
  const found = store.conversations.filter((each) => !words || each.name.toLocaleLowerCase().includes(words));
  const current = found.filter((each) => !each.isArchived);
  const away = found.filter((each) => each.isArchived);
  const held = rows.contains(document.activeElement) ? document.activeElement.closest("li")?.dataset.id : null;
  rows.replaceChildren(...current.map(line),
    ...(away.length ? [h("li", { class: "heading" }, h("h2", {}, t("list.archive"))), ...away.map(line)] : []));
  if (!found.length) rows.append(h("li", { class: "hint none" }, t(words ? "app.noneFound" : "app.none")));
  if (held) rows.querySelector(`li[data-id="${CSS.escape(held)}"] a`)?.focus();
  const count = store.conversations.filter((each) => !each.isMuted && !each.isArchived).reduce((sum, each) => sum + each.unread, 0);
  document.title = `${count ? `(${count}) ` : ""}${shown ? `${shown.name} – ` : ""}Parley`;
}

// MARK: One conversation

function close() {
  shown?.timeline.close();
  shown?.composer.close();
  shown = null;
}

function show(of) {
  close();
  const timeline = new Timeline(of, act, outgoing(of.id));
  const composer = new Composer(of, timeline);
  const typing = h("p", { class: "typing hint", "aria-live": "off" });
  shown = { id: of.id, name: of.name, timeline, composer, typing };
  pane.replaceChildren(
    h("header", {}, h("a", { href: "#/", class: "back", "aria-label": t("app.back") }, icon(paths.back)),
      h("div", {}, foreign("h1", {}, of.name), foreign("p", { class: "hint members" }, of.members.join(", ")))),
    timeline.element, typing, composer.element);
  document.body.classList.add("has-conversation");
  timeline.open().catch(report);
  if (matchMedia("(min-width: 720px)").matches) composer.field.focus({ preventScroll: true });
  showList();
}

async function act(what, message, more, isOn) {
  const { composer } = shown;
  try {
    if (what === "reply") composer.reply(message);
    else if (what === "edit") composer.edit(message);
    else if (what === "toggle") await rpc("react", { message: message.id, emoji: more, on: isOn });
    else if (what === "react") await react(message, more);
    else if (what === "delete" && (await agreed(t("message.deleteAsk"), t("message.deleteDo"))))
      await rpc("delete", { message: message.id });
  } catch (error) {
    report(error);
  }
}

function report(error) {
  if (noteFailure(error)) return;
  if (error.message) shown?.composer.fail(error);
  if (!error.code) throw error;
}

// MARK: Dialogs

function dialog(...children) {
  const element = h("dialog", { onclose: () => element.remove() }, ...children);
  document.body.append(element);
  element.showModal();
  return element;
}

function agreed(question, answer) {
  return new Promise((resolve) => {
    const end = (value) => () => (resolve(value), element.close());
    const element = dialog(h("p", {}, question), h("div", { class: "choices" },
      h("button", { type: "button", onclick: end(false) }, t("dialog.cancel")),
      h("button", { type: "button", class: "strong", onclick: end(true) }, answer)));
    element.addEventListener("close", () => resolve(false));
  });
}

async function react(message) {
  const emoji = await new Promise((resolve) => {
    const element = dialog(h("div", { class: "emojis", role: "group", "aria-label": t("message.react") },
      quickReactions.map((each) => h("button", {
        type: "button", "aria-label": t("message.reactWith", { emoji: each }), onclick: () => (resolve(each), element.close()),
      }, each))));
    element.addEventListener("click", (event) => event.target === element && element.close());
    element.addEventListener("close", () => resolve(null));
  });
  if (emoji) await rpc("react", { message: message.id, emoji, on: true });
}

// MARK: How the node is

function showConnection(state) {
  if (state === "locked") return showLocked("state.locked");
  banner.hidden = state !== "away";
  if (state === "away") banner.textContent = t("state.away");
  else if (state === "here" && banner.textContent) {
    banner.textContent = "";
    announce(t("state.back"));
  }
}

function showLocked(reason) {
  close();
  document.title = "Parley";
  document.body.replaceChildren(h("main", { class: "locked" },
    h("h1", {}, "Parley"), h("p", {}, t(reason)), h("p", { class: "hint" }, t("state.lockedHow")),
    h("pre", { tabindex: "0" }, h("code", {}, "parley open"))));
}

async function lock() {
  try {
    await leave();
  } catch (error) {
    if (!(error instanceof Away || error instanceof Locked)) throw error;
  }
  showLocked("state.locked");
}

// MARK: Where one is

function route() {
  const id = location.hash.match(/^#\/c\/([0-9a-f]{64})$/)?.[1];
  if (id && shown?.id === id) return;
  const of = id && conversation(id);
  if (of) return show(of);
  close();
  document.body.classList.remove("has-conversation");
  pane.replaceChildren(h("p", { class: "hint choose" }, t("app.choose")));
  showList();
}

async function begin() {
  const secret = location.hash.match(/^#enter=([0-9a-f]{64})$/)?.[1];
  if (secret) {
    // It is good once; the history of the browser has no use for it.
    history.replaceState(null, "", "/#/");
    if (!(await enter(secret))) return showLocked("state.linkOver");
  }
  document.body.append(banner, h("main", { class: "whole" }, side, pane));
  on("connection", showConnection);
  on("conversations", () => {
    if (!shown && location.hash.startsWith("#/c/")) route();
    showList();
  });
  on("typing", (change) => {
    if (change.conversation !== shown?.id) return;
    shown.typing.replaceChildren(...(change.typing?.length ? [foreign("bdi", {}, change.typing.join(", ")), " …"] : []));
  });
  addEventListener("hashchange", () => {
    const again = location.hash.startsWith("#enter=");
    if (again) location.reload();
    else route();
  });
  await follow();
}

begin().catch((error) => {
  if (error instanceof Locked || error instanceof Away) return showLocked("state.locked");
  throw error;
});
