/** Takes the reader's own connections off the network. Those of Ann, Bob and the newsroom stay. */

export class OfflineSwitch {
  /** The class for the connections of the reader. */
  readonly WebSocket: typeof WebSocket;
  readonly #sockets = new Set<WebSocket>();
  #isOffline = false;

  constructor() {
    this.WebSocket = new Proxy(WebSocket, {
      construct: (Socket, args: ConstructorParameters<typeof WebSocket>) =>
        this.#isOffline ? new UnconnectedSocket() : this.#track(new Socket(...args)),
    });
  }

  get isOffline(): boolean {
    return this.#isOffline;
  }

  set(isOffline: boolean): void {
    this.#isOffline = isOffline;
    if (isOffline) for (const socket of this.#sockets) socket.close();
  }

  #track(socket: WebSocket): WebSocket {
    this.#sockets.add(socket);
    socket.addEventListener('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

/** Fails at once, as a socket does without a network. */
class UnconnectedSocket {
  binaryType = 'blob';
  onopen = null;
  onmessage = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  onerror = null;

  constructor() {
    setTimeout(() => this.onclose?.(new CloseEvent('close', { code: 1006 })), 0);
  }

  send(): void {}
  close(): void {}
}
