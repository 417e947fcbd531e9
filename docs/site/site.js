"use strict";
// One switch for all answers of a page, remembered in this browser; and what screen readers miss.
const ANSWERS = "xla-notebooks: show all answers";

function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch (error) {} // a browser that keeps nothing
}

function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch (error) {
    return null;
  }
}

// What a script brings to life is hidden until then, and what stands in its place afterwards.
function bringToLife(id, start) {
  document.addEventListener("DOMContentLoaded", () => {
    const part = document.getElementById(id);
    if (!part) return;
    start(part, JSON.parse(document.getElementById(`${id}-data`).textContent));
    part.hidden = false;
    document.getElementById("without-script").hidden = true;
  });
}

function addSwitch() {
  const folds = [...document.querySelectorAll("details.came-out")];
  const title = document.querySelector("article h1");
  if (!folds.length || !title) return;
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  label.className = "answers";
  label.append(box, ` Show all ${folds.length} answers`);
  title.after(label);
  const show = () => folds.forEach((fold) => { fold.open = box.checked; });
  box.checked = recall(ANSWERS) === "yes";
  if (box.checked) show();
  box.addEventListener("change", () => {
    remember(ANSWERS, box.checked ? "yes" : "no");
    show();
  });
}

// What stands beside a page, by its name: two parts without one are the same to a screen reader.
const BESIDE = { ".sidebar-drawer": "All pages", ".toc-drawer": "On this page" };

// What scrolls must be reached by keyboard, and a heading must have a level.
function mend() {
  Object.entries(BESIDE).forEach(([part, name]) => {
    document.querySelector(part)?.setAttribute("aria-label", name);
  });
  document.querySelectorAll("[role=heading]:not([aria-level])").forEach((part) => {
    part.setAttribute("aria-level", "2");
  });
  document.querySelectorAll("pre, .highlight, .table-wrapper, .cell_output .text_html").forEach((part) => {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  });
}

document.addEventListener("DOMContentLoaded", () => {
  addSwitch();
  mend();
  document.addEventListener("toggle", mend, true); // what is folded has no width until it opens
});
