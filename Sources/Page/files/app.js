// Where the page begins: lets the browser in, shows the list and one conversation, and says how the node is.
import { Away, Locked, enter, leave, rpc } from "./api.js";
import { Composer, outgoing } from "./composer.js";
import { announce, foreign, h, icon, iconButton, paths } from "./dom.js";
import { conversationActions, fillHead } from "./groups.js";
import { actor } from "./menu.js";
import { meetView, waiting, waitingLine, watchWaiting } from "./people.js";
import "./polls.js";
import "./settings.js";
import { Search, hasCondition } from "./search.js";
import { conversation, follow, noteFailure, on, store } from "./store.js";
import { Timeline } from "./timeline.js";
import { menu, openView, wordsOf } from "./views.js";
import { shortTime, t } from "./words.js";

const rows = h("ul", { class: "conversations", oncontextmenu: rowMenu });
const find = h("input", {
  type: "search", "aria-label": t("search.field"), placeholder: t("search.field"), "aria-keyshortcuts": "Control+K /", oninput: () => (search.typed(), showList()), onkeydown: findKey,
});
const search = new Search(find, () => showList());
const banner = h("p", { class: "banner", role: "status", hidden: true });
const pane = h("section", { class: "pane" }, h("p", { class: "hint choose" }, t("app.choose")));
const side = h("nav", { "aria-label": t("app.conversations") },
  h("header", {}, h("h1", {}, "Parley"), iconLink("#/people", paths.people, t("people.title")), iconLink("#/meet", paths.add, t("meet.title")),
    iconButton(paths.close, t("app.leave"), () => lock())),
  h("div", { class: "find" }, find, search.filters), rows);
let shown = null;
let view = null;

function iconLink(href, path, label) {
  return h("a", { href, class: "quiet", "aria-label": label, title: label }, icon(path));
}

function findKey(event) {
  if (event.key === "Escape") {
    find.value = "";
    search.typed();
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
        h("span", { class: "unseen" }, t(each.unread ? "list.unread" : "list.marked", { n: each.unread }), each.unreadMentions ? `, ${t("list.mentions")}` : ""))),
    iconButton(paths.more, t("chat.actions", { name: each.name }), () => conversationMenu(each), { tabindex: "-1" }));
}

/** The same by keyboard: a browser takes Shift+F10 and the menu key for a click with the right button. */
function rowMenu(event) {
  const of = conversation(event.target.closest("li")?.dataset.id);
  if (!of) return;
  event.preventDefault();
  conversationMenu(of);
}

function conversationMenu(of) {
  const attempt = async (body) => {
    try {
      await body();
    } catch (error) {
      if (noteFailure(error)) return;
      if (!error.code) throw error;
      menu(wordsOf(error), []);
    }
  };
  menu(of.name, conversationActions(of, attempt, () => shown?.id === of.id && (location.hash = "#/")));
}

function showList() {
  const words = find.value.trim().toLocaleLowerCase();
  const found = store.conversations.filter((each) => !words || each.name.toLocaleLowerCase().includes(words));
  const messages = search.rows();
  find.parentElement.classList.toggle("is-searching", words !== "");
  const current = found.filter((each) => !each.isArchived);
  const away = found.filter((each) => each.isArchived);
  const held = rows.contains(document.activeElement) ? document.activeElement.closest("li")?.dataset.id : null;
  const waits = words ? null : waitingLine();
  rows.replaceChildren(...(waits ? [waits] : []), ...current.map(line),
    ...(away.length ? [h("li", { class: "heading" }, h("h2", {}, t("list.archive"))), ...away.map(line)] : []));
  if (!found.length && !messages.length && !hasCondition(words)) rows.append(h("li", { class: "hint none" }, t(words ? "app.noneFound" : "app.none"), " ", !words && h("a", { href: "#/meet" }, t("meet.title"))));
  rows.append(...messages);
  if (held) rows.querySelector(`li[data-id="${CSS.escape(held)}"] a`)?.focus();
  const count = store.conversations.filter((each) => !each.isMuted && !each.isArchived).reduce((sum, each) => sum + each.unread, 0);
  document.title = `${count ? `(${count}) ` : ""}${shown ?? view ? `${shown?.name ?? view.title} – ` : ""}Parley`;
}

// MARK: One conversation

function close() {
  shown?.timeline.close();
  shown?.composer.close();
  shown = null;
  view?.close();
  view = null;
}

/** Shows what is no conversation. */
function showView(next) {
  close();
  view = next;
  document.body.classList.add("has-conversation");
  pane.replaceChildren(view.element);
  view.named = showList;
  view.heading.focus({ preventScroll: true });
  showList();
}

const isNobodyThere = () => store.connection === "here" && waiting.people === 0 && !store.conversations.length;

/** What stands there while nothing was chosen: how one begins, where there is nobody yet. */
function showNothing() {
  close();
  document.body.classList.remove("has-conversation");
  const isFirst = isNobodyThere();
  if (isFirst) view = meetView(true);
  pane.replaceChildren(isFirst ? view.element : h("p", { class: "hint choose" }, t("app.choose")));
  showList();
}

function show(of, at) {
  close();
  const timeline = new Timeline(of, actor({
    reply: (message) => composer.reply(message), edit: (message) => composer.edit(message), report,
  }), outgoing(of.id));
  const composer = new Composer(of, timeline);
  const typing = h("p", { class: "typing hint", "aria-live": "off" });
  const head = h("div", {});
  fillHead(head, of);
  shown = { id: of.id, name: of.name, timeline, composer, typing, head };
  pane.replaceChildren(
    h("header", {}, h("a", { href: "#/", class: "back", "aria-label": t("app.back") }, icon(paths.back)), head, tools(of)),
    timeline.element, typing, composer.element);
  document.body.classList.add("has-conversation");
  timeline.open(at).catch(report);
  if (!at && matchMedia("(min-width: 720px)").matches) composer.field.focus({ preventScroll: true });
  showList();
}

/** What one looks for in a conversation. */
function tools(of) {
  return h("div", { class: "tools" }, iconButton(paths.search, t("search.here"), () => search.within(of)));
}

function report(error) {
  if (noteFailure(error)) return;
  if (error.message) shown?.composer.fail(error);
  if (!error.code) throw error;
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
  const [, id, at] = location.hash.match(/^#\/c\/([0-9a-f]{64})(?:\/([0-9a-f-]+))?$/) ?? [];
  const of = id && conversation(id);
  // One goes to a message once; going back leads to where one was before.
  if (of && at) history.replaceState(null, "", `#/c/${id}`);
  if (of && shown?.id === id) return at && shown.timeline.goTo(at).catch(report);
  if (of) return show(of, at);
  const other = openView(location.hash);
  if (other) showView(other);
  else showNothing();
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
    const now = shown && conversation(shown.id);
    if (now) fillHead(shown.head, now);
    else if (shown || location.hash.startsWith("#/c/")) route();
    showList();
  });
  watchWaiting(() => {
    // It stays when somebody has come, for what it says of that.
    if (location.hash.length <= 2 && !view && isNobodyThere()) showNothing();
    else showList();
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
  if (!location.hash.startsWith("#/c/")) route();
  await follow();
}

begin().catch((error) => {
  if (error instanceof Locked || error instanceof Away) return showLocked("state.locked");
  throw error;
});
