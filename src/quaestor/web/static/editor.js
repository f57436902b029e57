// The editor's niceties: fields that matter now, and what a form means while one types. All of it works without.
document.body.classList.add("scripted");
const WRITTEN = "input:not([type=checkbox])"; // what is written into a row
for (const tab of document.querySelectorAll(".tabs [aria-current]")) tab.scrollIntoView({ block: "nearest", inline: "center" });

for (const form of document.querySelectorAll("form.writing")) {
  const value = (name) => form.querySelector(`[name=${name}]:checked`)?.value ?? form.elements[name]?.value;
  const sort = () => {
    for (const part of form.querySelectorAll("[data-when-kind]")) part.hidden = !part.dataset.whenKind.split(" ").includes(value("kind"));
    for (const part of form.querySelectorAll("[data-when-way]")) part.hidden = !part.dataset.whenWay.split(" ").includes(value("way"));
    const parents = form.querySelector("[name=parents]:checked") ? "yes" : "no";
    for (const part of form.querySelectorAll("[data-when-parents]")) part.hidden = part.dataset.whenParents !== parents;
  };
  sort();

  const meaning = document.getElementById("meaning");
  let waiting, latest = 0;
  const show = async () => {
    const number = ++latest;
    try {
      const answer = await fetch(form.dataset.live, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const text = await answer.text();
      if (answer.ok && number === latest) meaning.innerHTML = text;
    } catch { /* the next key press tries again; saving tells what is wrong */ }
  };
  form.addEventListener("input", () => { sort(); clearTimeout(waiting); waiting = setTimeout(show, 400); });

  // A last empty row for another option, pair or level, whenever the last one is filled in.
  for (const rows of form.querySelectorAll(".rows")) rows.addEventListener("input", () => {
    const last = rows.lastElementChild;
    if (!last.querySelector(WRITTEN).value) return;
    const made = last.cloneNode(true), place = rows.children.length;
    for (const field of made.querySelectorAll(WRITTEN)) { field.value = ""; field.ariaLabel = field.ariaLabel.replace(/\d+/, place + 1); }
    for (const box of made.querySelectorAll("[name=is_right]")) { box.checked = false; box.value = place; }
    for (const list of made.querySelectorAll("select")) { list.selectedIndex = 0; list.ariaLabel = list.ariaLabel.replace(/\d+/, place + 1); }
    for (const number of made.querySelectorAll(".unseen")) number.textContent = ` ${place + 1}`;
    rows.append(made);
  });
}

// Leaving with something unsaved is asked about once; a form that came back holds what was typed before.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  let changed = form.dataset.unsaved === "yes";
  form.addEventListener("input", () => { changed = true; });
  form.addEventListener("submit", () => { changed = false; });
  addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
}
