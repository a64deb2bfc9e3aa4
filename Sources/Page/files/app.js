// Where the page begins: lets the browser in, shows the list and one conversation, and says how the node is.
import { agendaLines, scheduledIn, watchAgenda } from "./agenda.js";
import { Away, Locked, enter, leave, load } from "./api.js";
import { canCall, followCalled, startCall, watchCalls } from "./callwatch.js";
import { showBadge } from "./badge.js";
import { choice } from "./choice.js";
import { Composer } from "./composer.js";
import { announce, bdi, foreign, h, hint, icon, iconButton, namesOf, note, paths } from "./dom.js";
import { fillHead } from "./head.js";
import { allKept, beginKeeping, forgetKept, wasKept } from "./keep.js";
import { actor } from "./menu.js";
import { Search, hasCondition } from "./search.js";
import { outgoing, takeOwn } from "./outbox.js";
import { conversation, follow, noteFailure, on, store, takeShown } from "./store.js";
import { followThreads } from "./threads.js";
import { Timeline } from "./timeline.js";
import { hasOpenFiles } from "./upload.js";
import { button, commandHere, isView, menu, openView, short, told, wordsOf } from "./views.js";
import { waiting, waitingLine, watchWaiting } from "./waiting.js";
import { momentTime, shortTime, t } from "./words.js";

const rows = h("ul.conversations", { oncontextmenu: rowMenu });
const find = h("input", {
  type: "search", "aria-label": t("search.field"), placeholder: t("search.field"), "aria-keyshortcuts": "Control+K /", oninput: () => (search.typed(), showList()), onkeydown: findKey,
});
const search = new Search(find, () => showList());
const banner = h("p.banner", { role: "status", hidden: true });
const pane = h("section.pane", {}, h("p.hint.choose", {}, t("app.choose")));
const side = h("nav", { "aria-label": t("app.conversations") },
  h("header", {}, h("h1", {}, "Parley"), iconLink("#/people", paths.people, t("people.title")), iconLink("#/meet", paths.add, t("meet.title")),
    iconButton(paths.close, t("app.leave"), () => lock())),
  h("div.find", {}, find, search.filters,
    h("p.shelf", {}, h("a", { href: "#/catchup" }, t("assistant.catchUp")), h("a", { href: "#/mentions" }, t("mentions.title")), h("a", { href: "#/stars" }, t("stars.title")), h("a", { href: "#/reminders" }, t("remind.all")), h("a", { href: "#/calls" }, t("calls.title")))), rows);
let shown = null;
let view = null;
let wasAway = false;

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
  if (each.draft) return [h("span.draft", {}, t("list.draft")), " ", bdi(each.draft.slice(0, 80))];
  if (each.waitingFor) return [each.waitingFor];
  const { last } = each;
  if (!last) return [];
  const gone = last.isDeleted ? "deleted" : last.hasDisappeared ? "disappeared" : last.isHidden ? "hidden" : last.text === undefined && "missing";
  const words = gone ? t(`message.${gone}`) : last.text;
  return [bdi(last.author === store.status?.name ? t("message.you") : last.author), ": ", last.files && [filesWord(last.files), words && " · "], bdi(words.slice(0, 80))].flat();
}

/** What files are, in a word: of several kinds just files. */
const filesWord = (kinds) => t(`kind.${kinds.every((each) => each === kinds[0]) ? kinds[0] : "file"}`, { n: kinds.length });

const drawn = new Map();

/** The row of a conversation; of very many, those that look as before are not made again. */
function line(each) {
  const time = each.newest && shortTime(each.newest);
  const isHere = shown?.id === each.id;
  const look = JSON.stringify([each, time, isHere]);
  const known = drawn.get(each.id);
  if (known?.look === look) return known.row;
  const row = newLine(each, time, isHere);
  drawn.set(each.id, { look, row });
  return row;
}

function newLine(each, time, isHere) {
  const unread = each.unread > 0 || each.isMarkedUnread;
  return h("li", { "data-id": each.id },
    h("a", { href: `#/c/${each.id}`, "aria-current": isHere ? "page" : null, class: unread ? "unread" : "" },
      foreign("span.name", {}, each.name),
      each.resembles?.length > 0 && note(short(each.id)),
      each.isKeptFirst && note(t("list.first")),
      each.isMuted && note(t("list.muted")),
      time && h("time", {}, time),
      h("span.under", {}, preview(each)),
      unread && h("span", { class: `count${each.isMuted ? " quiet-count" : ""}` },
        h("span", { "aria-hidden": "true" }, `${each.unreadMentions ? `@${each.unreadMentions} · ` : ""}${each.unread > 999 ? "999+" : each.unread || "•"}`),
        h("span.unseen", {}, t(each.unread ? "list.unread" : "list.marked", { n: each.unread }), each.unreadMentions ? `, ${t("list.mentions", { n: each.unreadMentions })}` : ""))),
    iconButton(paths.more, t("chat.actions", { name: each.name }), () => conversationMenu(each), { tabindex: "-1" }));
}

/** The same by Shift+F10 and the menu key. */
function rowMenu(event) {
  const of = conversation(event.target.closest("li")?.dataset.id);
  if (!of) return;
  event.preventDefault();
  conversationMenu(of);
}

async function attempt(body) {
  try {
    await body();
  } catch (error) {
    const isAway = noteFailure(error);
    if (!isAway && !error.code) throw error;
    menu(isAway ? t("view.away") : wordsOf(error), []);
  }
}

const actionsOf = async (of, gone) => (await load("./chatmenu.js")).conversationActions(of, attempt, gone);

function conversationMenu(of) {
  actionsOf(of, () => shown?.id === of.id && (location.hash = "#/")).then((actions) => menu(of.name, actions)).catch(report);
}

/** Has the list hold these in this order; what stands there already is not touched. */
function arrange(nodes) {
  const wanted = new Set(nodes);
  for (const each of [...rows.children]) if (!wanted.has(each)) each.remove();
  let next = rows.firstChild;
  for (const each of nodes) {
    if (each === next) next = next.nextSibling;
    else rows.insertBefore(each, next);
  }
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
  const nodes = [...(words ? [] : agendaLines()), ...(waits ? [waits] : []), ...current.map(line),
    ...(away.length ? [h("li.heading", {}, h("h2", {}, t("list.archive"))), ...away.map(line)] : [])];
  if (!found.length && !messages.length && !hasCondition(words)) nodes.push(h("li.hint.none", {}, t(words ? "app.noneFound" : "app.none"), " ", !words && h("a", { href: "#/meet" }, t("meet.title"))));
  arrange([...nodes, ...messages]);
  if (held) rows.querySelector(`li[data-id="${CSS.escape(held)}"] a`)?.focus();
  const count = store.conversations.filter((each) => !each.isMuted && !each.isArchived).reduce((sum, each) => sum + each.unread, 0);
  showBadge(count, store.isRinging);
  document.title = `${store.notice && `${store.notice} – `}${count ? `(${count}) ` : ""}${shown ?? view ? `${shown?.name ?? view.title} – ` : ""}Parley`;
}

// MARK: One conversation

function close() {
  closeThread();
  shown?.ends.forEach((end) => end());
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
  const isUnknown = store.connection === "away" && !store.status;
  pane.replaceChildren(h("p.hint.choose", {}, t(isUnknown ? "state.awayNothing" : "app.choose")));
  showList();
  if (isNobodyThere()) showFirst().catch(report);
}

async function showFirst() {
  const { meetView } = await load("./people.js");
  if (shown || view || !isNobodyThere()) return;
  view = meetView(true);
  pane.replaceChildren(view.element);
  showList();
}

function show(of, at, thread) {
  close();
  const timeline = new Timeline(of, actor({
    reply: (message) => composer.reply(message), edit: (message) => composer.edit(message), thread: ({ id }) => openThread(of, id).catch(report), report,
  }), outgoing(of.id));
  const composer = new Composer(of, timeline);
  const typing = h("p.typing.hint", { "aria-live": "off" });
  const head = h("div");
  const [strip, endStrip] = scheduledIn(of.id);
  fillHead(head, of);
  shown = { id: of.id, name: of.name, timeline, composer, typing, head, panel: null, ends: [followThreads(of.id, (threads) => timeline.setThreads(threads)), followCalled(of.id, (calls) => timeline.setCalls(calls)), endStrip] };
  pane.replaceChildren(
    h("header", {}, h("a", { href: "#/", class: "back", "aria-label": t("app.back") }, icon(paths.back)), head, tools(of)),
    timeline.element, h("div", {}, typing, strip), composer.element);
  document.body.classList.add("has-conversation");
  timeline.open(at).catch(report);
  if (thread) openThread(of, at).catch(report);
  if (!at && matchMedia("(min-width: 720px)").matches) composer.field.focus({ preventScroll: true });
  showList();
}

/** Nothing can be written any more, or again: what was being written stays, at least to be copied. */
function showRevoked({ id, composer, panel }) {
  const now = conversation(id);
  if (!now) return;
  composer.keepEdit();
  show(now);
  if (panel) openThread(now, panel.at).catch(report);
}

/** A thread beside the timeline, or over it. What is written or edited elsewhere is shown there. */
async function openThread(of, at) {
  const { ThreadPanel } = await load("./thread.js");
  if (shown?.id !== of.id) return;
  closeThread();
  const { composer } = shown;
  const beside = () => (matchMedia("(min-width: 1100px)").matches ? null : closeThread());
  const panel = new ThreadPanel(of, at, {
    act: actor({
      reply: () => panel.field.focus(), thread: () => panel.field.focus(), edit: (message) => (beside(), composer.edit(message)),
      report: (error) => (beside(), report(error)),
    }),
    close: closeThread,
  });
  shown.panel = panel;
  document.querySelector(".whole").append(panel.element);
  document.body.classList.add("has-panel");
  panel.read();
  (panel.form.hidden ? panel.scroller : panel.field).focus({ preventScroll: true });
}

function closeThread() {
  document.body.classList.remove("has-panel");
  if (!shown?.panel) return;
  const { panel, timeline } = shown;
  shown.panel = null;
  const hadFocus = panel.element.contains(document.activeElement);
  panel.close();
  if (hadFocus) timeline.focusOn(panel.at);
}

/** What one looks for in a conversation, and does with it. */
function tools(of) {
  const more = iconButton(paths.more, t("chat.more"), async () => (await load("./popup.js")).popupMenu(t("chat.more"), [
    [t("assistant.title"), () => (location.hash = `#/assistant/${of.id}`)],
    [t("threads.title"), () => (location.hash = `#/threads/${of.id}`)],
    [t("pins.title"), () => (location.hash = `#/pins/${of.id}`)],
    [t("gallery.title"), () => (location.hash = `#/files/${of.id}`)],
    [t("day.title"), () => load("./marked.js").then(({ askDay }) => askDay(of, shown.timeline)).catch(report)],
    ...(await actionsOf(conversation(of.id) ?? of, () => (location.hash = "#/")).catch((error) => (report(error), []))),
  ], more), { "aria-haspopup": "menu" });
  const call = (path, words, withCamera) => canCall(of) && iconButton(path, t(words), () => startCall(of, withCamera).catch(report));
  return h("div.tools", {}, call(paths.phone, "call.voice", false), call(paths.camera, "call.video", true), iconButton(paths.search, t("search.here"), () => search.within(of)), more);
}

function report(error) {
  const isAway = noteFailure(error);
  if (isAway || error.message) shown?.composer.fail(error);
  if (!isAway && !error.code) throw error;
}

// MARK: How the node is

const startCommand = () => commandHere("parley run --page");

function showConnection(state) {
  if (state === "locked") return showLocked("state.locked");
  if (state === "outdated") return showOutdated();
  const isRevoked = state === "here" && store.status?.isRevoked;
  banner.hidden = state !== "away" && !isRevoked;
  if (state === "away") {
    wasAway = true;
    banner.replaceChildren(t("state.away"), " ", ...told("state.awayHow", { command: startCommand() }), ...(store.keptTime ? [" ", t("state.asOf", { time: momentTime(store.keptTime) })] : []));
    if (!shown && !view) showNothing();
  } else if (state === "here") {
    banner.textContent = isRevoked ? t("state.revoked") : "";
    if (!wasAway) return;
    wasAway = false;
    if (!shown && !view) showNothing();
    announce(t("state.back"));
  }
}

/** The node has a newer page: this one makes room, with all that was typed. */
async function showOutdated() {
  const again = async () => {
    await allKept();
    location.reload();
  };
  // What was reloaded a moment ago and is still another one is not asked for again and again.
  const [{ type }] = performance.getEntriesByType("navigation");
  if (!hasOpenFiles() && !(type === "reload" && performance.now() < 10_000)) return again();
  banner.hidden = false;
  banner.replaceChildren(t("state.newer"), " ", button(t("state.reload"), again));
}

function showLocked(reason) {
  forgetKept();
  close();
  document.title = "Parley";
  document.body.replaceChildren(h("main.locked", {},
    h("h1", {}, "Parley"), h("p", {}, t(reason)), hint(t("state.lockedHow")),
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
  const [, id, at, thread] = location.hash.match(/^#\/c\/([0-9a-f]{64})(?:\/([0-9a-f-]+)(\/thread)?)?$/) ?? [];
  const of = id && conversation(id);
  // One goes to a message once; going back leads to where one was before.
  if (of && at) history.replaceState(null, "", `#/c/${id}`);
  if (of && shown?.id === id) return at && (closeThread(), shown.timeline.goTo(at).catch(report));
  if (of) return show(of, at, thread);
  if (isView(location.hash)) showViewOf(location.hash).catch(report);
  else showNothing();
}

async function showViewOf(address) {
  const next = await openView(address);
  if (location.hash !== address) return next?.close();
  if (next) showView(next);
  else showNothing();
}

async function begin() {
  // There is no node yet.
  if (location.hash.startsWith("#begin=")) return (await load("./begin.js")).begin();
  const kept = beginKeeping();
  const secret = location.hash.match(/^#enter=([0-9a-f]{64})$/)?.[1];
  if (secret) {
    // It is good once; the history of the browser has no use for it.
    history.replaceState(null, "", "/#/");
    if (!(await enter(secret))) return showLocked("state.linkOver");
  }
  await kept;
  takeOwn(wasKept("own"));
  document.body.append(banner, h("main.whole", {}, side, pane));
  // Before the node has said anything there is what it said last.
  on("connection", (state) => state === "away" && takeShown(wasKept("shown")));
  on("connection", showConnection);
  // What could not be loaded while the node was away.
  on("connection", (state) => state === "here" && !view && isView(location.hash) && route());
  on("conversations", () => {
    const now = shown && conversation(shown.id);
    if (now) fillHead(shown.head, now);
    // The rules of a group have changed who writes.
    if (now && shown.composer.of.mayWrite !== now.mayWrite) showRevoked(shown);
    else if (shown || location.hash.startsWith("#/c/")) route();
    showList();
  });
  on("revoked", () => {
    showConnection(store.connection);
    if (shown) showRevoked(shown);
  });
  on("notice", showList);
  watchCalls();
  watchAgenda(showList);
  if (choice("notify") === "on") load("./notify.js").then(({ watchNotices }) => watchNotices()).catch(report);
  navigator.serviceWorker?.addEventListener("message", ({ data }) => data.kind === "show" && (location.hash = data.address));
  watchWaiting(() => {
    // It stays when somebody has come, for what it says of that.
    if (location.hash.length <= 2 && !view && isNobodyThere()) showNothing();
    else showList();
  });
  on("typing", (change) => {
    if (change.conversation !== shown?.id) return;
    shown.typing.replaceChildren(...(change.typing?.length ? [namesOf(change.typing), " …"].flat() : []));
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
