// Small pictures of persons and groups.
import { Refused, rpc } from "./api.js";
import { h } from "./dom.js";
import { passOver } from "./store.js";
import { t } from "./words.js";

const side = 256;
const byteCountMax = 32 << 10;
const types = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** The picture that a request answers with, which comes in a moment; nothing where it is none. */
export function picture(method, params) {
  const place = h("span.portrait");
  rpc(method, params).then(({ base64, type }) => {
    if (!types.includes(type)) return;
    const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
    const address = URL.createObjectURL(new Blob([bytes], { type }));
    const image = h("img", { src: address, alt: t("picture.alt"), onload: () => URL.revokeObjectURL(address), onerror: () => place.replaceChildren() });
    place.append(image);
  }, (error) => {
    passOver(error);
  });
  return place;
}

/** The middle of a picture, small enough to be shown by a person or a group; without what else its file says. */
export async function smallPicture(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Refused("no-picture", t("picture.none"));
  }
  const edge = Math.min(bitmap.width, bitmap.height);
  const canvas = h("canvas", { width: side, height: side });
  const surface = canvas.getContext("2d");
  surface.fillStyle = "#fff";
  surface.fillRect(0, 0, side, side);
  surface.drawImage(bitmap, (bitmap.width - edge) / 2, (bitmap.height - edge) / 2, edge, edge, 0, 0, side, side);
  bitmap.close();
  for (let quality = 0.9; quality > 0.1; quality -= 0.2) {
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
    if (blob.size > byteCountMax) continue;
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
  }
  throw new Refused("no-picture", t("picture.none"));
}
