// Files on their way into the node: in pieces, one file after the other. What was interrupted goes on where it
// stopped, and begins anew where the node knows nothing of it any more.
import { Locked } from "./api.js";
import { noteFailure } from "./store.js";

const pieceSize = 4 << 20;
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
let turn = Promise.resolve();
/** What was attached and is not sent: it goes with the page. */
const open = new Set();

/** One file that is to be sent. It tells of itself by `change`. */
export class Attachment extends EventTarget {
  #upload = null;
  #received = 0;
  #stop = new AbortController();
  #done = null;

  /**
   * @param file what is to be sent
   * @param isVoice whether it was spoken for its message
   * @param duration of what was spoken, in milliseconds
   */
  constructor(file, { isVoice = false, duration = 0 } = {}) {
    super();
    Object.assign(this, { file, isVoice, duration, name: file.name || "file", size: file.size });
    this.keepsMetadata = false;
    /** How much of its message it may take; null before that was decided. */
    this.room = null;
    open.add(this);
    this.#become("waiting");
  }

  /** How much of it the node has, 0 to 1. */
  get fraction() {
    return this.size ? this.#received / this.size : 1;
  }

  /** A small picture of it for the person who attached it; null of what is none. */
  get picture() {
    if (!/^image\/(jpeg|png|gif|webp|avif)$/.test(this.file.type)) return null;
    this.address ??= URL.createObjectURL(this.file);
    return this.address;
  }

  /** Sends it, from the beginning where that was done before with less or more room. */
  start(room = this.room) {
    this.#stop.abort();
    const stop = (this.#stop = new AbortController());
    this.#drop();
    Object.assign(this, { room, ticket: null, failure: null });
    this.#become("waiting");
    this.#done = turn = turn.then(() => this.#run(stop.signal));
  }

  /** Once the node has it, or said why not. */
  async settled() {
    await this.#done;
    return this.state;
  }

  /** It is not to be sent. */
  cancel() {
    this.#stop.abort();
    this.#drop();
    this.release();
  }

  /** It was sent, or is not to be: what the browser keeps of it is not needed any more. */
  release() {
    open.delete(this);
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = null;
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }

  #drop() {
    // Where nobody hears it, the node drops it by itself.
    if (this.#upload) this.#ask("DELETE", { id: this.#upload }).catch(() => {});
    [this.#upload, this.#received] = [null, 0];
  }

  #ask(method, query, body, signal) {
    return fetch(`/upload?${new URLSearchParams(query)}`, {
      method, body, signal, headers: { "Parley-Page": "1" }, credentials: "same-origin", cache: "no-store",
    });
  }

  async #run(signal) {
    let wait = 250;
    while (!signal.aborted) {
      let piece;
      try {
        piece = await this.file.slice(this.#received, this.#received + pieceSize).arrayBuffer();
      } catch (error) {
        return this.#fail({ message: error.message });
      }
      const isLast = this.#received + piece.byteLength >= this.size;
      this.#become(isLast ? "sealing" : "sending");
      const response = await this.#try("POST", this.#query(), piece, signal);
      if (signal.aborted) return;
      if (response?.ok) {
        this.#take(response.body);
        if (this.ticket) return this.#become("ready");
        wait = 250;
      } else if (response && ![404, 409, 503].includes(response.status)) return this.#fail(response.body.error);
      else {
        await pause(wait);
        wait = Math.min(wait * 2, 4000);
        if (!(await this.#resume(response, signal))) return;
      }
    }
  }

  #query() {
    if (this.#upload) return { id: this.#upload, offset: this.#received };
    const query = { name: this.name, size: this.size };
    if (this.isVoice) query.voice = 1;
    if (this.keepsMetadata) query.keepsMetadata = 1;
    if (this.room !== null) query.room = this.room;
    return query;
  }

  /** The answer; null where there was none. */
  async #try(method, query, body, signal) {
    try {
      const response = await this.#ask(method, query, body, signal);
      if (response.status === 401) noteFailure(new Locked());
      const text = await response.text();
      return { ok: response.ok, status: response.status, body: text ? JSON.parse(text) : null };
    } catch {
      return null;
    }
  }

  #take(view) {
    [this.#upload, this.#received] = [view.upload, view.receivedByteCount];
    this.ticket = view.file?.isReady ? view.file.ticket : null;
    this.note = view.file?.note;
  }

  /** Finds where to go on. False where nobody wants to any more. */
  async #resume(response, signal) {
    if (this.#upload) {
      const known = response?.status === 404 ? response : await this.#try("GET", { id: this.#upload }, undefined, signal);
      if (known?.ok) this.#take({ ...known.body, file: null });
      else if (known?.status === 404) [this.#upload, this.#received] = [null, 0];
    }
    return !signal.aborted;
  }

  #fail(failure) {
    this.failure = failure;
    this.#become("failed");
  }
}

/** Whether something that was attached is not sent. */
export const hasOpenFiles = () => open.size > 0;

addEventListener("beforeunload", (event) => {
  if (open.size) event.preventDefault();
});
