// What was spoken: played with its waveform, one at a time, and recorded.
import { announce, h, icon, iconButton, paths } from "./dom.js";
import { Attachment } from "./upload.js";
import { playTime, t } from "./words.js";

const speeds = [1, 1.5, 2];
const [timeMin, timeMax] = [500, 3_600_000];
const barCount = 48;

// MARK: Playing

/** The one sound that plays: a row that is drawn anew goes on with it. */
const player = new Audio();
player.preload = "none";
const playing = { key: null, row: null, speed: 1 };
const tick = () => playing.row?.isConnected && playing.row.look();
for (const kind of ["timeupdate", "play", "pause", "ended", "durationchange", "error"]) player.addEventListener(kind, tick);

/** Bars of a waveform, a path of 4 units each, 24 high. */
function bars(waveform) {
  const all = waveform.length ? waveform : Array(barCount).fill(16);
  const count = Math.min(barCount, all.length);
  return Array.from({ length: count }, (_, bar) => {
    const part = all.slice(Math.floor((bar * all.length) / count), Math.max(Math.floor(((bar + 1) * all.length) / count), 1));
    const half = 1 + (Math.max(...part, 0) / 255) * 10;
    return `M${bar * 4 + 2} ${12 - half}v${2 * half}`;
  }).join("");
}

function wave(waveform) {
  const drawing = icon(bars(waveform));
  drawing.setAttribute("viewBox", `0 0 ${4 * barCount} 24`);
  drawing.setAttribute("preserveAspectRatio", "none");
  return drawing;
}

/** A sound with a button, a waveform to move in, a time and a speed. */
export function voiceRow(message, file, addressOf) {
  const key = `${message.id} ${file.number}`;
  const seconds = file.duration / 1000;
  const played = h("span", { class: "played" }, wave(file.waveform));
  const place = h("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": t("voice.place"), oninput: () => seek() });
  const time = h("span", { class: "hint" });
  const speed = h("button", { type: "button", class: "quiet speed", "aria-label": t("voice.speed"), onclick: () => faster() });
  const button = h("button", { type: "button", class: "round", onclick: () => toggle() });
  const row = h("div", { class: "voice" }, button, h("span", { class: "wave" }, wave(file.waveform), played, place), time, speed);
  const isMine = () => playing.key === key;
  const begin = () => {
    if (isMine()) return;
    player.src = addressOf(message, file);
    playing.key = key;
    player.playbackRate = player.defaultPlaybackRate = playing.speed;
  };
  const whole = () => (isMine() && Number.isFinite(player.duration) ? player.duration : seconds);
  const toggle = () => {
    begin();
    playing.row = row;
    if (player.paused) player.play().catch(() => row.look());
    else player.pause();
  };
  const seek = () => {
    begin();
    playing.row = row;
    player.currentTime = (place.value / 1000) * whole();
    row.look();
  };
  const faster = () => {
    playing.speed = speeds[(speeds.indexOf(playing.speed) + 1) % speeds.length];
    player.playbackRate = player.defaultPlaybackRate = playing.speed;
    row.look();
  };
  let was;
  row.look = () => {
    const at = isMine() ? player.currentTime : 0;
    const share = whole() ? Math.min(1, at / whole()) : 0;
    const is = isMine() && !player.paused;
    played.style.clipPath = `inset(0 ${100 - share * 100}% 0 0)`;
    if (document.activeElement !== place || is) place.value = Math.round(share * 1000);
    place.setAttribute("aria-valuetext", playTime(at));
    time.textContent = isMine() && player.error ? t("file.broken") : playTime(at || whole());
    speed.textContent = `${playing.speed}×`;
    if (was === is) return;
    was = is;
    button.replaceChildren(icon(is ? paths.pause : paths.play));
    button.setAttribute("aria-label", t(is ? "voice.pause" : "voice.play"));
  };
  if (file.state !== "here") button.disabled = place.disabled = speed.disabled = true;
  if (isMine()) playing.row = row;
  row.look();
  return row;
}

/** A sound that was not spoken for its message. */
export const soundRow = (message, file, addressOf) => voiceRow(message, { ...file, waveform: [] }, addressOf);

// MARK: Recording

const forms = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus", "audio/mp4"];
const form = () => globalThis.MediaRecorder && navigator.mediaDevices && forms.find((each) => MediaRecorder.isTypeSupported(each));

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
    this.button = form() ? iconButton(paths.voice, t("voice.record"), () => this.begin()) : null;
    this.time = h("span", { role: "timer" });
    this.level = h("meter", { min: "0", max: "1", "aria-label": t("voice.level") });
    this.element = h("div", { class: "recording", hidden: true, onkeydown: (event) => event.key === "Escape" && this.end(null) },
      h("span", { class: "red", "aria-hidden": "true" }), this.time, this.level,
      iconButton(paths.remove, t("voice.cancel"), () => this.end(null)),
      iconButton(paths.stop, t("voice.keep"), () => this.end("keep")),
      h("button", { type: "button", class: "strong-leaf", "aria-label": t("voice.send"), title: t("voice.send"), onclick: () => this.end("send") }, icon(paths.send)));
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
    this.sound?.close();
    this.#recorder = this.#stream = null;
    this.#show(false);
    if (!this.what) return;
    if (duration < timeMin) return this.failed({ message: t("voice.tooShort") });
    const ending = type.includes("ogg") ? "ogg" : type.includes("webm") ? "webm" : "m4a";
    const file = new File(parts, `voice.${ending}`, { type });
    this.taken(new Attachment(file, { isVoice: true, duration: Math.round(duration) }), this.what === "send");
  }

  #watch() {
    this.sound = new AudioContext();
    const ear = this.sound.createAnalyser();
    this.sound.createMediaStreamSource(this.#stream).connect(ear);
    const samples = new Float32Array(ear.fftSize);
    this.#timer = setInterval(() => {
      const time = performance.now() - this.#began;
      ear.getFloatTimeDomainData(samples);
      this.level.value = Math.min(1, 3 * Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length));
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
