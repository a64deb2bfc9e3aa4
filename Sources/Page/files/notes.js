// Notes that several people edit at once: which there are, and one of them. What is typed becomes edits of the version
// that is shown; what others wrote meanwhile comes with the answer, and is woven into what was typed since.
import { foreign, h, hint, later, note } from "./dom.js";
import { changes, movedBy, scalars, woven } from "./weave.js";
import { noteFailure, on, store } from "./store.js";
import { togetherView, hiddenCard } from "./together.js";
import { View, addView, button, choices, copy, field, openDialog, rpc, told, wordsOf } from "./view.js";
import { momentTime, t } from "./words.js";

// MARK: Which there are

addView(/^#\/notes\/([0-9a-f]{64})$/, (id) => {
  const view = togetherView(id, "notes");
  view.add(choices(button(t("note.new"), () => view.asks(t("note.new"), [field("title", t("note.title"))], t("note.make"), async ({ title }) => {
    const note = await rpc("createNote", { conversation: id, title });
    location.hash = `#/note/${id}/${note.id}`;
  }), { class: "lead" })));
  view.part(() => rpc("notes", { conversation: id }), (all) => (all.length ? h("ul.people", {}, all.map((each) => h("li", {},
    each.isHidden ? hiddenCard() : h("a", { href: `#/note/${id}/${each.id}` }, foreign("span.name", {}, each.title),
      note(told("note.last", { name: each.editor ?? each.author, time: momentTime(each.editTime ?? each.time) })))))) : hint(t("note.none"))), "note");
  return view;
});

// MARK: A text that is edited

/** Texts with what was typed and the node does not have yet, by their notes: they outlive their view. */
const texts = new Map();

/** A text as the node has it, and as it is typed here. One question at a time is asked of the node. */
class SharedText {
  #isAsking = false;
  #isStale = false;

  constructor(id) {
    Object.assign(this, { id, kept: "", version: null, typed: "", isLost: false, watch: null });
  }

  /** Whether the node has all that was typed. */
  get isSaved() {
    return this.typed === shown(this.kept);
  }

  /** Sends what was typed, and takes what others wrote, until there is neither. */
  async sync(isStale = false) {
    this.#isStale ||= isStale || this.version === null;
    if (this.#isAsking || this.isLost) return;
    this.#isAsking = true;
    try {
      while (this.#isStale || !this.isSaved) {
        this.#isStale = false;
        await this.#exchange();
      }
      this.watch?.said(null);
    } catch (error) {
      this.#isStale = true;
      if (noteFailure(error)) this.watch?.said("away");
      else if (!error.code) throw error;
      else {
        this.isLost = error.code === "unknown-note";
        this.watch?.said(error);
      }
    } finally {
      this.#isAsking = false;
      if (this.isSaved && !this.watch) texts.delete(this.id);
    }
  }

  async #exchange() {
    const sent = this.typed;
    const before = this.version === null ? null : shown(this.kept);
    const edits = before === null ? [] : editsOf(this.kept, before, sent);
    const answer = edits.length ? await rpc("changeNote", { note: this.id, edits, version: this.version }) : await rpc("note", { note: this.id });
    const now = shown(answer.text);
    const places = edits.length || before === null || now === before ? null : await this.#placesOf(answer, now);
    const text = before === null ? now : woven(sent, this.typed, changes(sent, now));
    const others = changes(this.typed, text);
    Object.assign(this, { kept: answer.text, version: answer.version, typed: text });
    this.watch?.took(answer.note, text, (cursor) => places?.(cursor) ?? movedBy(others, cursor));
  }

  /** Where the cursor is in a text that others changed, as the node says it; null where it is elsewhere by now. */
  async #placesOf({ version, text }, now) {
    const { typed } = this;
    const cursor = this.watch?.cursor() ?? [];
    if (!cursor.length || now !== text || typed !== this.kept) return null;
    const found = await rpc("notePositions", { note: this.id, version: this.version, positions: cursor.map((each) => scalars(typed.slice(0, each))) });
    if (this.typed !== typed || `${found.version}` !== `${version}`) return null;
    const marks = [...now];
    return (place) => {
      const index = cursor.indexOf(place);
      return index < 0 ? null : marks.slice(0, found.positions[index]).join("").length;
    };
  }
}

addEventListener("beforeunload", (event) => [...texts.values()].some((each) => !each.isSaved && !each.isLost) && event.preventDefault());

/** A text as a field shows it. */
const shown = (text) => text.replace(/\r\n?/g, "\n");

/** What leads from a text, which a field shows as `before`, to what was made of that there. */
function editsOf(kept, before, after) {
  const raw = kept === before ? (place) => place : rawPlaces(kept);
  let moved = 0;
  return changes(before, after).map(({ start, end, text }) => {
    const [first, last] = [raw(start), raw(end)];
    const edit = { position: scalars(kept.slice(0, first)) + moved, deleted: scalars(kept.slice(first, last)), text };
    moved += scalars(text) - edit.deleted;
    return edit;
  });
}

function rawPlaces(kept) {
  const places = [];
  for (let place = 0; place <= kept.length; place++) if (!(kept[place] === "\n" && kept[place - 1] === "\r")) places.push(place);
  return (place) => places[place];
}

// MARK: One of them

addView(/^#\/note\/([0-9a-f]{64})\/([0-9a-f-]+)$/, (conversation, id) => {
  const view = new View(t("note.page"), `#/notes/${conversation}`);
  const text = texts.get(id) ?? new SharedText(id);
  texts.set(id, text);
  const area = h("textarea.note", { dir: "auto", "aria-label": t("note.textOf"), readonly: text.version === null, spellcheck: "true", oninput: () => ((text.typed = area.value), say(), sendSoon()) });
  const state = h("p.hint", { role: "status" });
  const last = h("p.hint");
  const mayWrite = () => !store.status?.isRevoked;
  const sendSoon = later(() => text.sync(), 150);
  const say = (words = t("note.saving")) => (state.textContent = words);
  let note = null;
  const watch = {
    cursor: () => (document.activeElement === area ? [area.selectionStart, area.selectionEnd] : []),
    took: (now, words, moved) => {
      note = now;
      view.name(now.title);
      area.setAttribute("aria-label", now.title);
      area.readOnly = !mayWrite();
      last.replaceChildren(...(now.editor ? told("note.last", { name: now.editor, time: momentTime(now.editTime) }) : []));
      if (area.value === words) return;
      const { scrollTop, selectionStart, selectionEnd } = area;
      area.value = words;
      if (document.activeElement === area) area.setSelectionRange(moved(selectionStart), moved(selectionEnd));
      area.scrollTop = scrollTop;
    },
    said: (error) => {
      area.removeAttribute("aria-busy");
      if (!error) return say(mayWrite() ? t("note.saved") : "");
      say(error === "away" ? t("note.away") : wordsOf(error));
      if (text.isLost) area.readOnly = true;
    },
  };
  text.watch = watch;
  if (text.version !== null) area.value = text.typed;
  view.ends(
    on("event", (change) => (change.kind === "missed" || (change.kind === "note" && change.conversation === conversation && (!change.note || change.note.id === id))) && text.sync(true)),
    on("connection", (now) => now === "here" && text.sync(true)),
    on("revoked", () => (area.readOnly = true)),
    () => {
      // The same note may be open anew by then.
      if (text.watch === watch) text.watch = null;
      if (text.isLost) texts.delete(id);
      text.sync();
    });
  const withNote = (body) => () => note && view.attempt(() => body(note));
  view.body.classList.add("writes");
  view.add(area, h("div.links", {}, state, last), choices(
    button(t("note.history"), withNote(() => history(view, id, () => text.sync(true)))),
    button(t("note.copy"), withNote(async () => (await copy(area.value)) || area.select())),
    button(t("note.rename"), withNote(() => view.asks(t("note.rename"), [field("title", t("note.title"), "text", note.title)], t("view.save"), async ({ title }) => {
      await rpc("renameNote", { note: id, title });
      text.sync(true);
    }))),
    button(t("note.delete"), withNote(() => view.asks(t("note.deleteAsk"), [], t("note.delete"), async () => {
      await rpc("deleteNote", { note: id });
      text.isLost = true;
      location.hash = `#/notes/${conversation}`;
    }, { text: t("note.deleteText"), isDangerous: true })))));
  text.sync(true);
  return view;
});

// MARK: Its history

/** The edits of a note, and its text after each; one may go back to that. */
async function history(view, id, restored) {
  const pageSize = 30;
  const list = h("ol.plain.versions");
  const more = button(t("menu.more"), () => view.attempt(load));
  let before;
  const line = (step) => {
    const place = h("div");
    const open = button(t("note.show"), async () => {
      const { text } = await rpc("note", { note: id, after: step.id });
      open.hidden = true;
      place.replaceChildren(foreign("p.description", {}, text), choices(button(t("note.restore"), async () => {
        if (await view.attempt(() => rpc("restoreNote", { note: id, after: step.id }))) restored();
        element.close();
      })));
    });
    return h("li.card", {},
      h("p", {}, foreign("bdi.name", {}, step.author), " ", h("time.hint", {}, momentTime(step.time))),
      step.beginning && foreign("p.description", {}, step.beginning),
      hint(t("note.step", { inserted: step.inserted, deleted: step.deleted })), open, place);
  };
  const load = async () => {
    const steps = await rpc("noteHistory", { note: id, limit: pageSize, ...(before && { before }) });
    list.append(...steps.map(line));
    before = steps.at(-1)?.id;
    more.hidden = steps.length < pageSize;
  };
  await load();
  const element = openDialog(t("note.history"), list.children.length ? list : hint(t("note.noHistory")),
    choices(more, button(t("view.done"), () => element.close(), { autofocus: true })));
}
