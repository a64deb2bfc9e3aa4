// A picture or a video over all of the window.
import { foreign, h, hint, iconButton, note, paths } from "./dom.js";
import { byteSize, t } from "./words.js";

/** What is shown of a file whose bytes are here, or what is known of one whose are not. */
function content(message, file, addressOf) {
  const failed = () => hint(t("file.broken"));
  if (file.state !== "here") return hint(t("file.notHere"));
  if (file.type.startsWith("video/")) {
    const video = h("video", { controls: true, autoplay: true, src: addressOf(message, file), "aria-label": file.name });
    video.addEventListener("error", () => video.replaceWith(failed()));
    return video;
  }
  const picture = h("img", { src: addressOf(message, file), alt: file.name, onclick: () => picture.classList.toggle("whole-size") });
  picture.addEventListener("error", () => picture.replaceWith(failed()));
  return picture;
}

/** Shows a file of a message. */
export function view(message, file, addressOf) {
  const element = h("dialog.viewer", { "aria-label": file.name, onclose: () => element.remove() },
    h("header", {}, foreign("bdi.name", {}, file.name), note(byteSize(file.size)),
      file.state === "here" && h("a", { href: addressOf(message, file, { save: 1 }), download: file.name }, t("file.save")),
      iconButton(paths.close, t("file.close"), () => element.close())),
    h("div.stage", { onclick: (event) => event.target === event.currentTarget && element.close() }, content(message, file, addressOf)));
  document.body.append(element);
  element.showModal();
}
