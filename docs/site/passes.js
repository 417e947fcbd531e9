"use strict";
// The pass lens: a program after each of XLA's passes that changed it.
function startLens(lens, { programs }) {
  const [program, device, step] = ["program", "device", "step"].map((name) =>
    lens.querySelector(`[name=${name}]`));
  const steps = () => programs[program.value].steps[device.value];
  const show = () => {
    const at = Number(step.value), all = steps(), one = all[at];
    const name = one.pass ? `${at} of ${all.length - 1}: ${one.pass}` : "before all passes";
    lens.querySelector(".name").textContent = name;
    lens.querySelector(".says").textContent = one.says;
    step.setAttribute("aria-valuetext", name);
    const kinds = { "+": "ins", "-": "del", " ": "span" };
    lens.querySelector("pre").replaceChildren(...one.lines.map((line) => {
      const part = document.createElement(kinds[line[0]]);
      part.textContent = `${line}\n`;
      return part;
    }));
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
