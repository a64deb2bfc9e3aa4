// Where one writes. What is typed stays until it is taken back or sent.
import { load, rpc } from "./api.js";
import { Attachments, viewOf } from "./attach.js";
import { announce, bdi, h, hint, icon, iconButton, later, paths } from "./dom.js";
import { MentionList } from "./mentions.js";
import { isSaidByOneself } from "./message.js";
import { attachedChanged, byteCount, flush, noteTyped, send, typedIn, watchOutbox } from "./outbox.js";
import { conversation, noteFailure, on, store } from "./store.js";
import { alone, button, copy, wordsOf } from "./views.js";
import { form } from "./voice.js";
import { t } from "./words.js";

const byteCountMax = 32768;
const draftByteCountMax = 2048;

/** A field in which nothing is written any more: what was typed is there to be copied. */
export function leftover(field) {
  field.setAttribute("aria-label", t("composer.left"));
  return [field, button(t("menu.copy"), async () => (await copy(field.value)) || field.select())];
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
    this.field.value = typedIn(of.id) ?? this.#kept;
    this.isRevoked = Boolean(store.status?.isRevoked);
    this.isOver = this.isRevoked || of.mayWrite === false;
    this.field.readOnly = this.isOver;
    this.button = h("button", { type: "submit", "aria-label": t("composer.send"), title: t("composer.send") }, icon(paths.send));
    this.later = iconButton(paths.clock, t("later.send"), () => this.#sendLater().catch((error) => this.fail(error)), { class: "quiet later", hidden: true });
    this.mentions = new MentionList(this.field, of);
    this.files = new Attachments(of, this.field, attachedChanged);
    this.about = h("div.about", { hidden: true });
    this.fault = h("p.fault", { role: "alert", hidden: true });
    if (this.isOver) this.files.close();
    this.element = h("form.composer", { onsubmit: (event) => (event.preventDefault(), this.#send()) },
      this.mentions.element, this.about, this.fault, ...(this.isOver ? [hint(t(this.isRevoked ? "composer.revoked" : "composer.readOnly"))] : [this.files.element]),
      (this.line = h("div.line", {}, this.isOver ? leftover(this.field) : [this.files.button, this.field, iconButton(paths.react, t("composer.emoji"), () => this.#insertEmoji().catch(noteFailure), { class: "quiet emoji", "aria-haspopup": "dialog" }), form() && iconButton(paths.voice, t("voice.record"), () => this.#record().catch(noteFailure), { class: "quiet record" }), this.later, this.button])));
    this.line.hidden = this.isOver && !this.field.value;
    this.#ends = [
      on("conversations", () => this.#takeDraft()),
      on("connection", (state) => state === "here" && this.fault.textContent === t("view.away") && (this.fault.hidden = true)),
      watchOutbox(of.id, { sent: () => timeline.tail(), failed: (error) => this.#takeBack(error) }),
    ];
    queueMicrotask(() => this.#fit());
  }

  close() {
    this.#isClosed = true;
    this.recorder?.end(null);
    this.files.close();
    for (const end of this.#ends) end();
    this.#keep();
  }

  reply(message) {
    if (this.isOver) return;
    this.#edit = null;
    this.#reply = message;
    this.#showAbout(isSaidByOneself(message) ? t("composer.replyingOwn") : t("composer.replying", { name: message.author }), message.text);
  }

  edit(message) {
    if (this.isOver) return;
    this.#reply = null;
    this.#edit = message;
    this.field.value = message.text;
    this.#showAbout(t("composer.editing"), message.text);
    this.#fit();
  }

  /** What was being changed is as if it were typed: it stays where a composer takes the place of this one. */
  keepEdit() {
    const before = typedIn(this.of.id);
    if (this.#edit) noteTyped(this.of.id, before ? `${before}\n${this.field.value}` : this.field.value);
  }

  /** What could not be sent is there to be written otherwise. */
  #takeBack(error) {
    this.timeline.waitingChanged();
    this.files.show();
    if (!this.#edit) this.field.value = typedIn(this.of.id);
    if (this.isOver) this.line.hidden = !this.field.value;
    this.#fit();
    this.fail(error);
  }

  fail(error) {
    this.fault.textContent = noteFailure(error) ? t("view.away") : t("error.failed", { reason: wordsOf(error) });
    this.fault.hidden = false;
  }

  #showAbout(title, text) {
    this.about.replaceChildren(
      h("p", {}, h("strong", { dir: "auto" }, title), " ", bdi((text ?? "").slice(0, 120))),
      iconButton(paths.close, t("composer.cancel"), () => this.#cancel()));
    this.about.hidden = false;
    this.button.setAttribute("aria-label", this.#edit ? t("composer.save") : t("composer.send"));
    this.field.focus();
  }

  #cancel() {
    if (this.#edit) this.field.value = typedIn(this.of.id) ?? "";
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
    noteTyped(this.of.id, this.field.value);
    this.#keepSoon();
    if (this.field.value && Date.now() - this.#typingTold > 4000) {
      this.#typingTold = Date.now();
      rpc("setTyping", { conversation: this.of.id, on: true }).catch(noteFailure);
    }
  }

  #fit() {
    this.later.hidden = this.isOver || Boolean(this.#edit) || !this.field.value.trim();
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

  /** Puts an emoji where the caret is. */
  async #insertEmoji() {
    const emoji = await alone(async () => (await load("./emoji.js")).pickEmoji(t("composer.emoji"), (each) => each));
    this.field.focus();
    if (!emoji) return;
    this.field.setRangeText(emoji, this.field.selectionStart, this.field.selectionEnd, "end");
    this.#typed();
  }

  /** Keeps what was typed for one's other devices. */
  async #keep() {
    const text = typedIn(this.of.id);
    if (store.status?.isRevoked || text === undefined || text === this.#kept || byteCount(text) > draftByteCountMax) return;
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
      noteTyped(this.of.id, draft);
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
    if (this.isOver) return;
    if (byteCount(text) > byteCountMax || (!text && (this.#edit || this.files.isEmpty))) return;
    if (this.#edit) return this.#save(text);
    const attached = this.files.take();
    send({
      number: 0, id: "", conversation: this.of.id, author: store.status?.name ?? "", isOwn: true, text,
      replyTo: this.#reply?.id, time: Date.now(), editCount: 0, reactions: [], state: "sending",
      attached, files: attached.map(viewOf),
    });
    this.field.value = "";
    this.#cancel();
    this.timeline.waitingChanged();
    this.timeline.list.stick();
    announce(t("delivery.sending"));
    await flush();
    // Sending ends the draft, where there was one.
    this.#keep();
  }

  async #sendLater() {
    const text = this.field.value.trim();
    if (this.#reply || !this.files.isEmpty) return this.fail({ message: t("later.plain") });
    const { sendLater } = await load("./scheduled.js");
    sendLater(this.of, text, () => {
      noteTyped(this.of.id, "");
      this.field.value = "";
      this.#cancel();
      this.#keep();
    });
  }

  async #save(text) {
    try {
      if (text !== this.#edit.text) await rpc("edit", { message: this.#edit.id, text });
      this.#cancel();
    } catch (error) {
      this.fail(error);
    }
  }
}

