// What is spoken, recorded in the place of the field where one writes.
import { Ear } from "./callmedia.js";
import { announce, h, icon, iconButton, paths } from "./dom.js";
import { Attachment } from "./upload.js";
import { form } from "./voice.js";
import { playTime, t } from "./words.js";

const [timeMin, timeMax] = [500, 3_600_000];

/** Records what is spoken, in the place of the field where one writes. */
export class Recorder {
  #recorder = null;
  #stream = null;
  #began = 0;
  #timer = 0;

  /**
   * @param taken is given what was spoken, and whether it is to be sent at once
   * @param failed is told why nothing can be heard
   */
  constructor({ taken, failed, shown }) {
    Object.assign(this, { taken, failed, shown });
    this.time = h("span", { role: "timer" });
    this.level = h("meter", { min: "0", max: "1", "aria-label": t("voice.level") });
    this.element = h("div.recording", { hidden: true, onkeydown: (event) => event.key === "Escape" && this.end(null) },
      h("span.red", { "aria-hidden": "true" }), this.time, this.level,
      iconButton(paths.remove, t("voice.cancel"), () => this.end(null)),
      iconButton(paths.stop, t("voice.keep"), () => this.end("keep")),
      h("button", { class: "strong-leaf", "aria-label": t("voice.send"), title: t("voice.send"), onclick: () => this.end("send") }, icon(paths.send)));
  }

  async begin() {
    if (this.#recorder || this.isAsking) return;
    this.isAsking = true;
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (error) {
      return this.failed({ message: t(error.name === "NotFoundError" ? "voice.noMicrophone" : "voice.notAllowed") });
    } finally {
      this.isAsking = false;
    }
    const recorder = (this.#recorder = new MediaRecorder(this.#stream, { mimeType: form(), audioBitsPerSecond: 32_000 }));
    const parts = [];
    recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
    recorder.addEventListener("stop", () => this.#finish(parts, recorder.mimeType));
    recorder.start(1000);
    this.#began = performance.now();
    this.time.textContent = playTime(0);
    this.#watch();
    this.#show(true);
    announce(t("voice.recording"));
  }

  /** Ends it: `keep` attaches it, `send` sends it, null drops it. */
  end(what) {
    if (!this.#recorder) return;
    this.what = what;
    this.#recorder.stop();
  }

  #finish(parts, type) {
    const duration = performance.now() - this.#began;
    clearInterval(this.#timer);
    for (const track of this.#stream.getTracks()) track.stop();
    this.ear.close();
    this.#recorder = this.#stream = null;
    this.#show(false);
    if (!this.what) return;
    if (duration < timeMin) return this.failed({ message: t("voice.tooShort") });
    const ending = type.includes("ogg") ? "ogg" : type.includes("webm") ? "webm" : "m4a";
    const file = new File(parts, `voice.${ending}`, { type });
    this.taken(new Attachment(file, { isVoice: true, duration: Math.round(duration) }), this.what === "send");
  }

  #watch() {
    this.ear = new Ear(this.#stream);
    this.#timer = setInterval(() => {
      const time = performance.now() - this.#began;
      this.level.value = this.ear.level();
      this.time.textContent = playTime(time / 1000);
      if (time > timeMax) this.end("keep");
    }, 100);
  }

  #show(isOn) {
    this.element.hidden = !isOn;
    this.shown(isOn);
    if (isOn) this.element.querySelector("button:last-child").focus();
  }
}
