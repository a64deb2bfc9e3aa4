// What goes along with a message that is written: chosen, dropped or pasted, shown with how far it is.
import { announce, h, icon, iconButton, paths } from "./dom.js";
import { nameOf } from "./files.js";
import { Attachment } from "./upload.js";
import { byteSize, t } from "./words.js";

const countMax = 16;
// Of a message's 44 KiB its text and its files have what is left of the rest. A file with a name and a preview
// takes nine at most; what is kept for a text is what most have.
const [whole, most, least, text] = [42 * 1024, 9.5 * 1024, 1.25 * 1024, 4 * 1024];

const clip = "M14.5 8.5 9 14a3 3 0 0 1-4.2-4.2l6-6a2 2 0 0 1 2.9 2.9l-6 6a1 1 0 0 1-1.4-1.4l5.1-5.2";
const held = new Map();
/** Names of files that were attached, by conversation, and went with the page before this one. */
const lost = new Map();
const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

// A file that is dropped beside what takes it would take the place of the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => hasFiles(event) && event.preventDefault());

/** What is attached in a conversation and not sent. */
const attachedIn = (id) => held.get(id) ?? held.set(id, []).get(id);

/** Gives back what could not be sent. */
export function giveBack(id, attachments) {
  attachedIn(id).push(...attachments);
}

/** What a file is called. */
export const titleOf = (attachment) => (attachment.isVoice ? t("voice.name") : attachment.name);

/** Notes files that are not here any more: whoever wants to send them attaches them again. */
export function noteLost(id, names) {
  lost.set(id, [...new Set([...(lost.get(id) ?? []), ...names])]);
}

/** Names of what would be lost with this page, or was with another one, by conversation. */
export const attachedNames = () =>
  [...new Set([...held.keys(), ...lost.keys()])].map((id) => [id, [...(lost.get(id) ?? []), ...attachedIn(id).map(titleOf)]]).filter(([, names]) => names.length);

/**
 * The tickets of what goes along, once all of it is in the node: with less room for each where a long text or
 * many files leave less. Throws why one cannot be sent.
 */
export async function ticketsOf(attachments, textByteCount) {
  const room = whole - textByteCount;
  if (attachments.reduce((sum, each) => sum + each.room, 0) > room) {
    const share = Math.floor(room / attachments.length);
    for (const each of attachments) if (each.room > share) each.start(share);
  }
  for (const each of attachments) {
    if ((await each.settled()) !== "ready") throw each.failure ?? new Error(t("file.stopped"));
  }
  return attachments.map((each) => each.ticket);
}

/** One that goes along, as messages show theirs. */
export const viewOf = (attachment, place) => ({
  number: place + 1, name: attachment.name, size: attachment.size, type: attachment.file.type, state: "leaving",
  heldByteCount: 0, width: 0, height: 0, duration: attachment.duration, isVoice: attachment.isVoice, waveform: [],
  hasPreview: false, attachment,
});

export class Attachments {
  #depth = 0;

  /**
   * @param of the conversation
   * @param field where one writes, which takes what is pasted
   * @param changed is told whenever something else is attached
   */
  constructor(of, field, changed) {
    Object.assign(this, { of, field, changed });
    this.input = h("input", { type: "file", multiple: true, hidden: true, onchange: () => this.#chosen() });
    this.button = iconButton(clip, t("file.attach"), () => this.input.click());
    this.list = h("ul.attached", { "aria-label": t("file.attached") });
    this.target = h("p.drop-target", { hidden: true }, t("file.drop", { name: of.name }));
    this.element = h("div", {}, this.input, this.list, this.target);
    this.listeners = {
      dragenter: (event) => hasFiles(event) && this.#showTarget(++this.#depth),
      dragleave: (event) => hasFiles(event) && this.#showTarget(--this.#depth),
      drop: (event) => this.#dropped(event),
    };
    for (const [kind, body] of Object.entries(this.listeners)) addEventListener(kind, body);
    field.addEventListener("paste", (event) => this.#pasted(event));
    this.show();
  }

  get isEmpty() {
    return attachedIn(this.of.id).length === 0;
  }

  close() {
    for (const [kind, body] of Object.entries(this.listeners)) removeEventListener(kind, body);
  }

  /** Adds files, as many as a message may bring. */
  add(files) {
    const here = attachedIn(this.of.id);
    const fresh = files.slice(0, countMax - here.length);
    const used = here.reduce((sum, each) => sum + each.room, 0);
    const left = whole - text - used - (countMax - here.length - fresh.length) * least;
    const room = Math.round(Math.min(most, Math.max(least, left / fresh.length)));
    for (const each of fresh) {
      here.push(each);
      each.start(room);
      this.#forget(titleOf(each));
    }
    this.tooMany = files.length - fresh.length;
    this.#update();
    if (fresh.length) announce(t("file.added", { n: fresh.length }));
  }

  /** All of it goes: who takes it sends it. */
  take() {
    const taken = attachedIn(this.of.id);
    held.set(this.of.id, []);
    lost.delete(this.of.id);
    this.tooMany = 0;
    this.#update();
    return taken;
  }

  show() {
    const here = attachedIn(this.of.id);
    this.list.replaceChildren(...(lost.get(this.of.id) ?? []).map((name) => this.#lostRow(name)), ...here.map((each) => this.#row(each)),
      ...(this.tooMany > 0 ? [h("li.fault", {}, t("file.tooMany", { n: countMax }))] : []));
    this.list.hidden = !this.list.children.length;
  }

  #chosen() {
    this.#addFiles(this.input.files);
    this.input.value = "";
  }

  #addFiles(files) {
    this.add([...files].map((each) => new Attachment(each)));
    this.field.focus();
  }

  #dropped(event) {
    if (!hasFiles(event)) return;
    this.#showTarget((this.#depth = 0));
    // A folder looks like a file that cannot be read.
    const entries = [...event.dataTransfer.items].map((each) => each.webkitGetAsEntry?.());
    this.#addFiles([...event.dataTransfer.files].filter((_, place) => !entries[place]?.isDirectory));
  }

  #pasted(event) {
    const { files } = event.clipboardData;
    if (!files.length || this.field.readOnly) return;
    event.preventDefault();
    this.#addFiles(files);
  }

  #showTarget(depth) {
    this.target.hidden = depth <= 0;
  }

  #remove(attachment) {
    const here = attachedIn(this.of.id);
    here.splice(here.indexOf(attachment), 1);
    attachment.cancel();
    this.tooMany = 0;
    this.#update();
    this.field.focus();
  }

  #forget(name) {
    lost.set(this.of.id, (lost.get(this.of.id) ?? []).filter((each) => each !== name));
  }

  #update() {
    this.show();
    this.changed();
  }

  #lostRow(name) {
    const remove = () => (this.#forget(name), this.#update(), this.field.focus());
    return h("li.fault", {}, icon(clip), h("span.about-file", {}, nameOf({ name }), h("span", {}, t("file.lost"))),
      iconButton(paths.close, t("file.remove", { name }), remove));
  }

  #row(attachment) {
    const name = titleOf(attachment);
    const bar = h("progress", { max: "1", "aria-label": t("file.sending", { name }) });
    const words = h("span.hint");
    const again = h("button", { hidden: true, onclick: () => this.#asItIs(attachment) }, t("file.asItIs"));
    const fault = h("span.fault", { role: "alert" });
    const shown = attachment.picture;
    const look = () => {
      const { state, failure } = attachment;
      bar.hidden = state === "ready" || state === "failed";
      if (state === "sending") bar.value = attachment.fraction;
      else bar.removeAttribute("value");
      words.textContent = [byteSize(attachment.size), state === "ready" ? attachment.note : ""].filter(Boolean).join(" · ");
      fault.textContent = state === "failed" ? [failure.message, failure.hint?.startsWith("--") ? "" : failure.hint].filter(Boolean).join(" ") : "";
      again.hidden = failure?.code !== "not-cleaned";
    };
    attachment.addEventListener("change", look);
    look();
    return h("li", {},
      shown ? h("img", { src: shown, alt: "", onerror: (event) => event.target.replaceWith(icon(clip)) }) : icon(attachment.isVoice ? paths.voice : clip),
      h("span.about-file", {}, nameOf({ name }), words, bar, fault, again),
      iconButton(paths.close, t("file.remove", { name }), () => this.#remove(attachment)));
  }

  #asItIs(attachment) {
    attachment.keepsMetadata = true;
    attachment.start();
  }
}
