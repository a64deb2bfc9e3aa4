// Before a call: what one is seen and heard with, to look at and choose.
import { Ear, Local, chooseDevice, chosenDevices } from "./callmedia.js";
import { h, hint } from "./dom.js";
import { noteFailure } from "./store.js";
import { button, choices, openDialog, wordsOf } from "./view.js";
import { t } from "./words.js";

/** Choices of devices, as far as the browser tells of them. */
function deviceFields(local, failed, sinkChanged) {
  const element = h("div.devices");
  const kinds = [["audioinput", "microphone"], ["videoinput", "camera"], ["audiooutput", "loudspeaker"]];
  const choose = async (kind, id) => {
    if (kind === "loudspeaker") {
      localStorage.setItem("parley-loudspeaker", id);
      return sinkChanged();
    }
    chooseDevice(kind, id);
    await local.reopen(kind).catch(failed);
  };
  const draw = async () => {
    const all = await navigator.mediaDevices.enumerateDevices();
    element.replaceChildren(...kinds.flatMap(([kind, name]) => {
      const found = all.filter((each) => each.kind === kind && each.deviceId);
      if (found.length < 2 || (name === "loudspeaker" && !HTMLMediaElement.prototype.setSinkId)) return [];
      const chosen = name === "loudspeaker" ? localStorage.getItem("parley-loudspeaker") : chosenDevices()[name];
      const select = h("select", { id: `device-${name}`, onchange: () => choose(name, select.value) },
        found.map((each, place) => h("option", { value: each.deviceId, selected: each.deviceId === chosen }, each.label || `${place + 1}`)));
      return [h("p.field", {}, h("label", { for: select.id }, t(`device.${name}`)), select)];
    }));
  };
  draw();
  return { element, draw };
}

/** One's own picture and how loud one is, for as long as the dialog is open. */
function preview(local, dialog) {
  const video = h("video", { autoplay: true, playsinline: true, "aria-label": t("call.ownPicture") });
  video.muted = true;
  video.srcObject = local.picture;
  const element = h("div.preview", {}, video, hint(t("call.noPicture")));
  const level = h("meter", { min: "0", max: "1", "aria-label": t("voice.level") });
  let ear = null;
  const timer = setInterval(() => {
    element.classList.toggle("has-picture", Boolean(local.video));
    if (ear?.track !== local.audio) {
      ear?.close();
      ear = local.audio && Object.assign(new Ear(new MediaStream([local.audio])), { track: local.audio });
    }
    level.value = ear && !local.isMuted ? ear.level() : 0;
  }, 100);
  dialog().addEventListener("close", () => (clearInterval(timer), ear?.close()));
  return [element, level];
}

/** Asks what to send. `go` is given it, and says by an error why nothing came of it. */
export function askMedia(title, label, withCamera, go) {
  const local = new Local();
  let isTaken = false;
  const fault = h("p.fault", { role: "alert", hidden: true });
  const failed = (error) => {
    if (noteFailure(error)) fault.textContent = t("view.away");
    else if (error.code) fault.textContent = wordsOf(error);
    else throw error;
    fault.hidden = false;
  };
  const check = (kind, isOn) => h("input", { type: "checkbox", id: `send-${kind}`, checked: isOn, onchange: () => set() });
  const [microphone, camera] = [check("microphone", true), check("camera", withCamera)];
  const set = async () => {
    fault.hidden = true;
    await local.set([microphone.checked && "microphone", camera.checked && "camera"].filter(Boolean)).catch(failed);
    microphone.checked = local.words.includes("microphone");
    camera.checked = local.words.includes("camera");
    devices.draw();
  };
  const devices = deviceFields(local, failed, () => {});
  const done = button(label, async () => {
    done.disabled = true;
    fault.hidden = true;
    isTaken = true;
    try {
      await go(local);
      dialog.close();
    } catch (error) {
      isTaken = false;
      failed(error);
      // What was open was closed with the call that did not come about.
      if (local.isClosed) dialog.querySelector("button[type=button]").focus();
      else done.disabled = false;
    }
  }, { class: "lead", autofocus: true });
  const dialog = openDialog(title);
  dialog.classList.add("lobby");
  const [picture, level] = preview(local, () => dialog);
  const line = (input, words, more) => h("p.field.check", {}, input, h("label", { for: input.id }, words), more);
  dialog.append(picture, line(microphone, t("device.microphone"), level), line(camera, t("device.camera")), devices.element, fault,
    choices(button(t("dialog.cancel"), () => dialog.close()), done));
  dialog.addEventListener("close", () => isTaken || local.close());
  done.focus();
  set();
}

/** Other devices for a call that goes on. */
export function chooseDevices(local, sinkChanged) {
  const fault = h("p.fault", { role: "alert", hidden: true });
  const failed = (error) => {
    if (!error.code) throw error;
    fault.textContent = wordsOf(error);
    fault.hidden = false;
  };
  const dialog = openDialog(t("call.devices"));
  dialog.classList.add("lobby");
  dialog.append(...preview(local, () => dialog), deviceFields(local, failed, sinkChanged).element, fault,
    choices(button(t("view.done"), () => dialog.close(), { autofocus: true })));
}
