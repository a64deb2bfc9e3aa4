// Where there is no node yet: a new person, or a further device by what another one shows. Nothing of it is kept here.
import { Refused } from "./api.js";
import { canScan, scan } from "./codes.js";
import { foreign, h, hint } from "./dom.js";
import { button, field, form, prose, told } from "./view.js";
import { t } from "./words.js";

/** So many characters at the end of a recovery code are typed. */
const checkedCount = 4;

/** Asks what serves this page, which knows it by what its address says. */
async function ask(wish) {
  let answer;
  try {
    const response = await fetch("/begin", {
      method: "POST", cache: "no-store", body: JSON.stringify(wish),
      headers: { "Parley-Page": "1", "Parley-Begin": location.hash.slice("#begin=".length) },
    });
    answer = await response.json();
  } catch {
    throw new Refused("over", t("begin.over"));
  }
  const { error } = answer;
  if (error) throw new Refused(error.code, error.message, error.hint);
  return answer;
}

/** Makes the node, and goes to its page. */
const make = async (wish) => location.replace((await ask(wish)).link);

/** Shows the recovery code, and makes its person once they have it before them. */
async function showCode(place, name) {
  const { code } = await ask({ act: "code" });
  const heading = h("h2", { tabindex: "-1" }, t("begin.code"));
  place.replaceChildren(heading, h("p", {}, t("begin.codeText")),
    h("p.link", { dir: "ltr" }, code.split(/(?<=-)/).flatMap((each) => [each, h("wbr")])),
    form([field("last", t("begin.last"), "text", "", { dir: "ltr", spellcheck: "false", autocapitalize: "characters", maxlength: checkedCount * 2, required: true })],
      t("begin.do"), ({ last }) => make({ act: "found", name, last }), { before: button(t("view.back"), () => begin()) }));
  heading.focus();
}

function newPart(found) {
  const place = h("section", {}, h("h2", {}, t("begin.new")),
    form([field("name", t("begin.name"), "text", found.name, { required: true })], t("begin.next"), async ({ name }) => {
      if (!name) throw new Refused("no-name", t("begin.noName"));
      await showCode(place, name);
      other.hidden = true;
    }));
  const other = linkPart(found);
  return [place, other];
}

function linkPart({ device }) {
  const text = field("text", t("device.linkCode"), "long", "", { dir: "ltr", spellcheck: "false", required: true });
  const taken = form([text, field("device", t("begin.device"), "text", device)], t("begin.linkDo"),
    (values) => make({ act: "join", ...values }), {
      before: canScan() && button(t("meet.scan"), async () => {
        const found = await scan();
        if (found) taken.elements.text.value = found;
      }),
    });
  return h("section", {}, h("h2", {}, t("begin.link")), h("p", {}, prose(t("begin.linkText"))), taken);
}

/** Shows what may be begun. */
export async function begin() {
  const main = h("main.parts.begin", {}, h("h1", {}, "Parley"));
  document.body.replaceChildren(main);
  try {
    const found = await ask({ act: "look" });
    main.append(h("p.lede", {}, told("begin.text", { home: found.home })), ...newPart(found), hint(prose(t("begin.recover"))));
  } catch (error) {
    if (!error.code) throw error;
    main.append(foreign("p", { class: "fault", role: "alert" }, error.message));
  }
}
