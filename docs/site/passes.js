"use strict";
// The pass lens: a program after each of XLA's passes that changed it.
const NO_KERNEL = /^(?:parameter|constant|tuple|get-tuple-element|bitcast|reshape)$/;
const AROUND = 3; // lines that stay, beside each change

// The kernels of the main computation, and the bytes that they read and write, before or after.
function counted(lines, gone) {
  const size = (type) => [...type.matchAll(/[a-z]+(\d+)\[([\d,]*)\]/g)].reduce((sum, [, bits, shape]) =>
    sum + Number(bits) / 8 * shape.split(",").filter(Boolean).reduce((all, n) => all * Number(n), 1), 0);
  const main = lines.filter((line) => line[0] !== gone).join("\n").split(/^.ENTRY/m)[1] || "";
  const sizes = new Map();
  let kernels = 0, bytes = 0;
  for (const [, name, type, kind, given] of main.matchAll(/(%[\w.-]+) = (\S+|\(.*?\)) ([\w-]+)\((.*?)\)/g)) {
    sizes.set(name, size(type));
    if (NO_KERNEL.test(kind)) continue;
    kernels += 1;
    bytes += sizes.get(name);
    for (const [one] of given.matchAll(/%[\w.-]+/g)) bytes += sizes.get(one) || 0;
  }
  return { kernels, bytes };
}

function compared(lines) {
  const before = counted(lines, "+"), after = counted(lines, "-");
  const many = (bytes) => bytes < 1e6 ? `${(bytes / 1e3).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`;
  const both = (one, other) => one === other ? one : `${one} to ${other}`;
  return `Instructions that do work: ${both(before.kernels, after.kernels)}; ` +
    `they read and write ${both(many(before.bytes), many(after.bytes))}.`;
}

// Lines near a change; what lies between two such places opens by a click.
function excerpt(parts) {
  const changes = parts.map((part, at) => part.tagName === "SPAN" ? -1 : at).filter((at) => at >= 0);
  if (!changes.length) return parts;
  const shown = [], near = (at) => changes.some((change) => Math.abs(change - at) <= AROUND);
  for (let at = 0; at < parts.length;) {
    const start = at;
    while (at < parts.length && near(at) === near(start)) at += 1;
    const part = parts.slice(start, at);
    if (near(start) || part.length < 3) shown.push(...part);
    else {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${part.length} lines that stay`;
      button.addEventListener("click", () => button.replaceWith(...part));
      shown.push(button);
    }
  }
  return shown;
}

function startLens(lens, { programs }) {
  const [program, device, step] = ["program", "device", "step"].map((name) =>
    lens.querySelector(`[name=${name}]`));
  const steps = () => programs[program.value].steps[device.value];
  const show = () => {
    const at = Number(step.value), all = steps(), one = all[at];
    const name = one.pass ? `${at} of ${all.length - 1}: ${one.pass}` : "before all passes";
    lens.querySelector(".name").textContent = name;
    lens.querySelector(".says").textContent = `${one.says} ${compared(one.lines)}`;
    step.setAttribute("aria-valuetext", name);
    const kinds = { "+": "ins", "-": "del", " ": "span" };
    const text = lens.querySelector("pre");
    text.replaceChildren(...excerpt(one.lines.map((line) => {
      const part = document.createElement(kinds[line[0]]);
      part.textContent = line.slice(1);
      return part;
    })));
    const first = text.querySelector("ins, del");
    text.scrollTop = first ? first.offsetTop - text.offsetTop - 60 : 0;
    lens.querySelector(".back").disabled = at === 0;
    lens.querySelector(".on").disabled = at === all.length - 1;
  };
  const begin = () => {
    [step.max, step.value] = [steps().length - 1, 0];
    show();
  };
  const go = (by) => {
    step.value = Number(step.value) + by;
    show();
  };
  programs.forEach((one, place) => program.add(new Option(one.name, place)));
  Object.keys(programs[0].steps).forEach((name) => device.add(new Option(name, name)));
  [program, device].forEach((choice) => choice.addEventListener("change", begin));
  step.addEventListener("input", show);
  lens.querySelector(".back").addEventListener("click", () => go(-1));
  lens.querySelector(".on").addEventListener("click", () => go(1));
  lens.addEventListener("submit", (event) => event.preventDefault());
  begin();
}

bringToLife("lens", startLens);
