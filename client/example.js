import { Session } from "./navtalk.js";

const output = document.querySelector("output");
const input = document.querySelector("input");
let session = null;

document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (session?.state === "ready") return session.say(input.value);
  if (session && session.state !== "ended") return;
  session = new Session(document.querySelector("canvas"), { avatar: "ada" });
  session.addEventListener("queue", ({ detail }) => (output.value = `Place ${detail.position} in the queue`));
  session.addEventListener("ready", () => session.say(input.value));
  session.addEventListener("speech-started", () => (output.value = "speaking"));
  session.addEventListener("speech-ended", () => (output.value = ""));
  session.addEventListener("ended", ({ detail }) => (output.value = detail.reason?.message || "The session is over."));
  await session.start().catch((error) => (output.value = error.message));
});
