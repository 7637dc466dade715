// What the page does by itself: it says what a slider stands at while it moves, and
// says so if the server does not answer.
"use strict";

document.addEventListener("input", (event) => {
  const slider = event.target;
  if (slider.type !== "range") return;
  const texts = slider.dataset.texts ? JSON.parse(slider.dataset.texts) : null;
  const text = texts ? texts[slider.value] : slider.value;
  slider.setAttribute("aria-valuetext", text);
  const output = document.getElementById(slider.id + "-text");
  if (output) output.textContent = text;
});

const alertText = (text) => {
  document.getElementById("alert").textContent = text;
};

document.addEventListener("htmx:sendError", () => {
  alertText("Presage does not answer: it was stopped. Start it again, and load this page anew.");
});
document.addEventListener("htmx:responseError", (event) => {
  alertText("Presage could not answer: " + event.detail.xhr.responseText);
});
