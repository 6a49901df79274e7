// Before textual.js connects: the address of the board, and an address bar without the token.
"use strict";

document.getElementById("terminal").dataset.sessionWebsocketUrl =
  location.origin.replace(/^http/, "ws") + "/ws";
history.replaceState(null, "", "/");
document.getElementById("again").addEventListener("click", () => location.reload());
// The terminal takes keys without a click; it is there once textual.js has handled the same event.
window.addEventListener("load", () =>
  setTimeout(() => document.querySelector(".xterm-helper-textarea")?.focus()),
);
