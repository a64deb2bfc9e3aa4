// Pictures for a camera, and the camera.
import { rpc } from "./api.js";
import { h } from "./dom.js";
import { noteFailure } from "./store.js";
import { button, choices, openDialog } from "./view.js";
import { t } from "./words.js";

const space = "http://www.w3.org/2000/svg";
const margin = 4;

function drawn(rows, label) {
  const size = rows.length + 2 * margin;
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.setAttribute("class", "code");
  let line = "";
  rows.forEach((row, y) => {
    for (const run of row.matchAll(/1+/g)) line += `M${run.index + margin} ${y + margin}h${run[0].length}v1h-${run[0].length}z`;
  });
  for (const [name, attributes] of [["rect", { width: size, height: size, fill: "#fff" }], ["path", { d: line, fill: "#000" }]]) {
    const part = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    svg.append(part);
  }
  return svg;
}

/** A text as a picture, which comes in a moment; nothing where it is too long for one. */
export function code(text, label) {
  const place = h("div.code-place");
  rpc("drawCode", { text }).then(({ rows }) => place.append(drawn(rows, label)), (error) => {
    if (!noteFailure(error) && error.code !== "code-too-long") throw error;
  });
  return place;
}

/** Whether this browser reads such pictures. */
export const canScan = () => "BarcodeDetector" in globalThis && Boolean(navigator.mediaDevices?.getUserMedia);

/** What the camera reads; null where one ends that. */
export async function scan() {
  let stream;
  const video = h("video", { autoplay: true, playsinline: true, "aria-label": t("code.camera") });
  video.muted = true;
  const hint = h("p.hint", { role: "status" }, t("code.hold"));
  const element = openDialog(t("code.camera"), video, hint, choices(button(t("dialog.cancel"), () => element.close())));
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    video.srcObject = stream;
    const detector = new globalThis.BarcodeDetector({ formats: ["qr_code"] });
    while (element.open) {
      if (video.readyState >= 2) {
        const [found] = await detector.detect(video);
        if (found) return found.rawValue;
      }
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
  } catch (error) {
    hint.textContent = t(error.name === "NotAllowedError" ? "code.refused" : "code.none");
    await new Promise((resolve) => element.addEventListener("close", resolve, { once: true }));
  } finally {
    for (const track of stream?.getTracks() ?? []) track.stop();
    if (element.open) element.close();
  }
  return null;
}
