"use strict";
// A bet before its fold opens. The score stays in this browser, and nobody else sees it.
const BETS = "xla-notebooks: placed bets";

function bets() {
  try {
    return JSON.parse(recall(BETS)) ?? {};
  } catch (error) {
    return {};
  }
}

function score(placed) {
  const all = Object.values(placed), right = all.filter((bet) => bet.isRight).length;
  return all.length ? `Your bets so far: ${right} of ${all.length} right.` : "";
}

// What was meant: "3 kernels", "3.0" and "3" are the number 3.
function meant(field) {
  const given = field.value.trim();
  if (field.tagName === "SELECT") return given;
  const found = given.replaceAll(",", "").match(/^(-?\d+)(\.0*)?(?![\d.])/);
  return found ? String(Number(found[1])) : "";
}

// What a bet expects of XLA: 1 for more than it gave, -1 for less, 0 where neither can be said.
function leaning(form, given) {
  const flatters = JSON.parse(form.dataset.flatters);
  if (!flatters) return 0;
  const worth = { more: Number, fewer: (count) => -count }[flatters]
    ?? ((choice) => flatters.indexOf(choice)); // the last is the best for XLA, others the worst
  return Math.sign(worth(given) - worth(form.dataset.right));
}

// The folds that follow a bet, until the next bet or the next section.
function foldsAfter(form) {
  const parts = [...document.querySelectorAll("form.bet, article h2, details.came-out")];
  const after = parts.slice(parts.indexOf(form) + 1);
  const end = after.findIndex((part) => part.tagName !== "DETAILS");
  return end < 0 ? after : after.slice(0, end);
}

function show(form, bet) {
  const said = form.querySelector("output");
  form.classList.toggle("right", bet.isRight);
  form.classList.toggle("wrong", !bet.isRight);
  const here = bet.isRight ? "\u2713 Right." : `\u2717 Here: ${form.dataset.right}.`;
  const link = document.createElement("a");
  link.href = `${document.documentElement.dataset.content_root}index.html#your-bets`;
  link.textContent = score(bets());
  said.replaceChildren(`${here} `, link);
}

// The last paragraph of the first page, once there is a bet: where XLA was over- and underrated.
function showScore(place) {
  const placed = bets();
  place.textContent = score(placed);
  place.hidden = !place.textContent;
  for (const [side, words] of [
    [1, "you expected more of XLA than it gave"],
    [-1, "XLA gave more than you expected"],
  ]) {
    const keys = Object.keys(placed).filter((key) => placed[key].leans === side).sort();
    if (keys.length) place.append(` In ${keys.length} ${words}:`, ...keys.flatMap(linkTo), ".");
  }
}

// The key of a bet begins with the number of its notebook, and ends the name of its field.
function linkTo(key, at) {
  const number = key.slice(0, 2), link = document.createElement("a");
  const page = document.querySelector(`.sidebar-tree a[href*="notebooks/${number}_"]`);
  link.href = `${page.href}#bet-${key}`;
  link.textContent = number;
  return [at ? ", " : " ", link];
}

function startBet(form) {
  const field = form.querySelector("input, select"), said = form.querySelector("output");
  form.hidden = false;
  const before = bets()[form.dataset.key];
  if (before) {
    field.value = before.given;
    show(form, before);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = meant(field);
    if (!given) {
      said.textContent = field.tagName === "SELECT" ? "Choose one first."
        : "A number, please: then you will know what you thought.";
      return;
    }
    const placed = bets(), isRight = given === form.dataset.right;
    const bet = { given, isRight, leans: leaning(form, given) };
    placed[form.dataset.key] ??= bet; // the first one counts
    remember(BETS, JSON.stringify(placed));
    show(form, bet);
    const guess = [...document.querySelectorAll("form.bet")].filter(
      (one) => one.dataset.guess === form.dataset.guess);
    if (guess.every((one) => one.dataset.key in placed)) {
      foldsAfter(guess.at(-1)).forEach((fold) => { fold.open = true; });
    }
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("form.bet").forEach(startBet);
  document.querySelectorAll("#your-bets").forEach(showScore);
});
