"use strict";
// A bet before its fold opens. The score stays in this browser, and nobody else sees it.
const BETS = "xla-notebooks: bets";

function bets() {
  try {
    return JSON.parse(recall(BETS)) ?? {};
  } catch (error) {
    return {};
  }
}

function score(placed) {
  const all = Object.values(placed), right = all.filter(Boolean).length;
  return all.length ? `Your bets so far: ${right} of ${all.length} right.` : "";
}

function startBet(form) {
  const field = form.querySelector("input, select"), said = form.querySelector("output");
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = field.value.trim().replaceAll(",", "");
    if (!given || (field.inputMode === "numeric" && !/^-?\d+$/.test(given))) {
      said.textContent = "A number, please: then you will know what you thought.";
      if (field.tagName === "SELECT") said.textContent = "Choose one first.";
      return;
    }
    const placed = bets(), isRight = given === form.dataset.right;
    placed[form.dataset.key] ??= isRight; // the first bet counts
    remember(BETS, JSON.stringify(placed));
    const here = isRight ? "Right." : `Here it was ${form.dataset.right}.`;
    said.textContent = `${here} The answer below says why. ${score(placed)}`;
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("form.bet").forEach(startBet);
});
