// Where one writes. What is typed stays until it is taken back or sent, and what is sent is on its way until
// the node has it: asked again under the same name, it writes nothing twice.
import { load, rpc } from "./api.js";
import { Attachments, giveBack, ticketsOf, viewOf } from "./attach.js";
import { announce, foreign, h, icon, iconButton, later, paths } from "./dom.js";
import { MentionList } from "./mentions.js";
import { conversation, noteFailure, on, store } from "./store.js";
import { form } from "./voice.js";
import { t } from "./words.js";

const byteCountMax = 32768;
const draftByteCountMax = 2048;
const byteCount = (text) => new TextEncoder().encode(text).length;

/** Messages on their way, of all conversations, oldest first. */
const outbox = [];
const typed = new Map();
/** Conversations in which something is being sent, and the question that was asked last in each. */
const sending = new Set();
const asked = new Map();

const answered = async (id) => asked.get(id)?.catch(() => {});
const forget = (messages) => messages.forEach((each) => outbox.includes(each) && outbox.splice(outbox.indexOf(each), 1));

/**
 * What is on its way in a conversation, for who shows it. A message that the node has stays here until it was
 * read from there, so that it is in the list once at any moment.
 */
export const outgoing = (id) => ({
  all: () => outbox.filter((each) => each.conversation === id),
  sent: () => outbox.filter((each) => each.conversation === id && each.isSent),
  /** What of it is in a page that was read; once the node has answered what was sent last, which may be in it. */
  in: async (page) => {
    await answered(id);
    const ids = new Set(page.messages.map((each) => each.id));
    return outbox.filter((each) => ids.has(each.kept));
  },
  /** Once the node has answered what was sent last. */
  answered: () => answered(id),
  forget,
});

/** Sends what waits, of each conversation one after the other: files of one keep no other waiting. */
async function flush(changed, failed) {
  await Promise.all([...new Set(outbox.map((each) => each.conversation))].map((id) => flushIn(id, changed, failed)));
}

async function flushIn(id, changed, failed) {
  if (sending.has(id)) return;
  sending.add(id);
  try {
    for (;;) {
      const first = outbox.find((each) => each.conversation === id && !each.isSent);
      if (!first) return;
      try {
        await send(first);
        first.isSent = true;
        changed(first);
      } catch (error) {
        if (noteFailure(error)) return;
        forget([first]);
        failed(first, error);
      }
    }
  } finally {
    sending.delete(id);
  }
}

async function send(message) {
  const { attached } = message;
  const params = { conversation: message.conversation, texts: [message.text], once: message.once };
  if (message.replyTo) params.replyTo = message.replyTo;
  for (let tries = 0; ; tries++) {
    if (attached.length) params.files = await ticketsOf(attached, byteCount(message.text));
    const answer = rpc("send", params);
    asked.set(message.conversation, answer);
    try {
      message.kept = (await answer)[0]?.id;
      break;
    } catch (error) {
      // A node that was started again knows nothing of what waited there to be sent.
      if (!["no-ticket", "file-gone", "not-sealed"].includes(error.code) || tries > 2) throw error;
      for (const each of attached) each.start();
    }
  }
  for (const each of attached) each.release();
}

export class Composer {
  #reply = null;
  #edit = null;
  #kept;
  #ends;
  #typingTold = 0;
  #isClosed = false;

  /** @param timeline where what is sent is shown */
  constructor(of, timeline) {
    Object.assign(this, { of, timeline });
    this.#kept = of.draft ?? "";
    this.field = h("textarea", {
      rows: "1", dir: "auto", "aria-label": t("composer.write", { name: of.name }),
      placeholder: t("composer.write", { name: of.name }),
      oninput: () => (this.#typed(), this.mentions.typed()), onkeydown: (event) => this.#key(event), onblur: () => this.#keep(),
    });
    this.field.value = typed.get(of.id) ?? this.#kept;
    this.button = h("button", { type: "submit", "aria-label": t("composer.send"), title: t("composer.send") }, icon(paths.send));
    this.mentions = new MentionList(this.field, of);
    this.files = new Attachments(of, this.field);
    this.about = h("div", { class: "about", hidden: true });
    this.fault = h("p", { class: "fault", role: "alert", hidden: true });
    this.element = h("form", { class: "composer", onsubmit: (event) => (event.preventDefault(), this.#send()) },
      this.mentions.element, this.about, this.fault, this.files.element,
      (this.line = h("div", { class: "line" }, this.files.button, this.field, form() && iconButton(paths.voice, t("voice.record"), () => this.#record().catch(noteFailure)), this.button)));
    this.#ends = [
      on("connection", (state) => state === "here" && this.flush()),
      on("conversations", () => this.#takeDraft()),
    ];
    this.flush();
    queueMicrotask(() => this.#fit());
  }

  close() {
    this.#isClosed = true;
    this.recorder?.end(null);
    this.files.close();
    forget(outgoing(this.of.id).sent());
    for (const end of this.#ends) end();
    this.#keep();
  }

  reply(message) {
    this.#edit = null;
    this.#reply = message;
    this.#showAbout(message.isOwn ? t("composer.replyingOwn") : t("composer.replying", { name: message.author }), message.text);
  }

  edit(message) {
    this.#reply = null;
    this.#edit = message;
    this.field.value = message.text;
    this.#showAbout(t("composer.editing"), message.text);
    this.#fit();
  }

  flush() {
    return flush(
      (message) => {
        if (message.conversation === this.of.id && !this.#isClosed) this.timeline.tail();
        else forget([message]);
      },
      (message, error) => {
        typed.set(message.conversation, message.text);
        giveBack(message.conversation, message.attached);
        if (message.conversation === this.of.id && !this.#isClosed) {
          this.timeline.waitingChanged();
          this.files.show();
          if (!this.field.value) this.field.value = message.text;
          this.fail(error);
        }
      });
  }

  fail(error) {
    this.fault.textContent = t("error.failed", { reason: [error.message, error.hint].filter(Boolean).join(" ") });
    this.fault.hidden = false;
  }

  #showAbout(title, text) {
    this.about.replaceChildren(
      h("p", {}, h("strong", { dir: "auto" }, title), " ", foreign("bdi", {}, (text ?? "").slice(0, 120))),
      iconButton(paths.close, t("composer.cancel"), () => this.#cancel()));
    this.about.hidden = false;
    this.button.setAttribute("aria-label", this.#edit ? t("composer.save") : t("composer.send"));
    this.field.focus();
  }

  #cancel() {
    if (this.#edit) this.field.value = typed.get(this.of.id) ?? "";
    this.#reply = this.#edit = null;
    this.about.hidden = this.fault.hidden = true;
    this.button.setAttribute("aria-label", t("composer.send"));
    this.#fit();
    this.field.focus();
  }

  #typed() {
    this.fault.hidden = true;
    this.#fit();
    const extra = byteCount(this.field.value) - byteCountMax;
    if (extra > 0) this.fail({ message: t("composer.tooLong", { n: extra }) });
    if (this.#edit) return;
    typed.set(this.of.id, this.field.value);
    this.#keepSoon();
    if (this.field.value && Date.now() - this.#typingTold > 4000) {
      this.#typingTold = Date.now();
      rpc("setTyping", { conversation: this.of.id, on: true }).catch(noteFailure);
    }
  }

  #fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  #keepSoon = later(() => this.#keep(), 1500);

  async #record() {
    const { Recorder } = await load("./recorder.js");
    if (this.#isClosed) return;
    if (!this.recorder) {
      this.recorder = new Recorder({
        taken: (voice, isSent) => (this.files.add([voice]), isSent && this.#send()),
        failed: (error) => this.fail(error),
        shown: (isOn) => (this.line.hidden = isOn),
      });
      this.line.before(this.recorder.element);
    }
    await this.recorder.begin();
  }

  /** Keeps what was typed for one's other devices. */
  async #keep() {
    const text = typed.get(this.of.id);
    if (text === undefined || text === this.#kept || byteCount(text) > draftByteCountMax) return;
    try {
      await rpc("keepDraft", { conversation: this.of.id, text });
      this.#kept = text;
    } catch (error) {
      if (!noteFailure(error)) this.fail(error);
    }
  }

  /** What was typed on another device, where nothing is typed here. */
  #takeDraft() {
    const draft = conversation(this.of.id)?.draft ?? "";
    if (draft === this.#kept) return;
    if (!this.#edit && this.field.value === this.#kept) {
      this.field.value = draft;
      typed.set(this.of.id, draft);
      this.#fit();
    }
    this.#kept = draft;
  }

  #key(event) {
    if (event.isComposing || this.mentions.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Escape" && (this.#reply || this.#edit)) {
      event.preventDefault();
      this.#cancel();
    } else if (event.key === "ArrowUp" && !this.field.value) {
      const message = this.timeline.lastOwn();
      if (message) event.preventDefault(), this.edit(message);
    }
  }

  async #send() {
    const text = this.field.value.trim();
    if (byteCount(text) > byteCountMax || (!text && (this.#edit || this.files.isEmpty))) return;
    if (this.#edit) return this.#save(text);
    const attached = this.files.take();
    const once = crypto.randomUUID();
    outbox.push({
      number: 0, id: "", conversation: this.of.id, author: store.status?.name ?? "", isOwn: true, text, once,
      replyTo: this.#reply?.id, time: Date.now(), editCount: 0, reactions: [], state: "sending",
      attached, files: attached.map(viewOf),
    });
    typed.set(this.of.id, "");
    this.field.value = "";
    this.#cancel();
    this.timeline.waitingChanged();
    this.timeline.list.stick();
    announce(t("delivery.sending"));
    await this.flush();
    // Sending ends the draft, where there was one.
    this.#keep();
  }

  async #save(text) {
    try {
      if (text !== this.#edit.text) await rpc("edit", { message: this.#edit.id, text });
      this.#cancel();
    } catch (error) {
      if (!noteFailure(error)) this.fail(error);
    }
  }
}

