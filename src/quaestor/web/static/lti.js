// Inside a learning platform: what a click does here happens by itself where the browser runs scripts.

for (const form of document.querySelectorAll("form[data-platform-send]")) form.requestSubmit();
for (const _ of document.querySelectorAll("[data-platform-close]")) {
  (window.opener ?? window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
}

// LTI platform storage: the platform keeps a value for a frame without cookies. Only the frame that it named at the origin that we know
// is asked, and only its answer counts.
const ask = (at, message, reply) => new Promise((resolve) => {
  const origin = new URL(at.dataset.platformOrigin).origin, id = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const parent = window.parent === window ? window.opener : window.parent;
  const target = at.dataset.storage === "_parent" ? parent : parent?.frames[at.dataset.storage];
  if (!target) return resolve(null);
  const heard = (event) => {
    if (event.origin !== origin || event.data?.subject !== reply || event.data?.message_id !== id) return;
    removeEventListener("message", heard);
    resolve(event.data.error ? null : event.data);
  };
  addEventListener("message", heard);
  setTimeout(() => resolve(null), 3000);
  target.postMessage({ ...message, message_id: id, key: at.dataset.key }, origin);
});
for (const link of document.querySelectorAll("[data-platform-put]")) {
  await ask(link, { subject: "lti.put_data", value: link.dataset.value }, "lti.put_data.response");
  location.replace(link.href);
}
for (const form of document.querySelectorAll("[data-platform-get]")) {
  const found = await ask(form, { subject: "lti.get_data" }, "lti.get_data.response");
  if (typeof found?.value === "string" && found.value) {
    form.elements.browser.value = found.value;
    form.submit();
  }
}
