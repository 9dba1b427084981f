// init's socket inside the session: connections, requests, and the one loop that PID 1 lives in.
#pragma once

#define SERVER_FOLDER "/run/drums"
#define SERVER_SOCKET SERVER_FOLDER "/init.sock"

// Binds SERVER_SOCKET, 0600, for root in the session only; fails through fail().
int server_listen(void);

// Reaps and serves for ever; nothing that a client sends, and nothing that a child does, ends or delays it.
_Noreturn void server_run(int listener);
