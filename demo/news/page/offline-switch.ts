/** Takes the reader's own connections off the network. Those of Ann, Bob and the newsroom stay. */

export class OfflineSwitch {
  /** The class for the connections of the reader. */
  readonly WebSocket: typeof WebSocket;
  readonly #sockets = new Set<WebSocket>();
  #isOffline = false;

  constructor() {
    const isOffline = (): boolean => this.#isOffline;
    const sockets = this.#sockets;
    this.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        sockets.add(this);
        this.addEventListener('close', () => sockets.delete(this));
        if (isOffline()) this.close();
      }
    };
  }

  get isOffline(): boolean {
    return this.#isOffline;
  }

  set(isOffline: boolean): void {
    this.#isOffline = isOffline;
    if (isOffline) for (const socket of this.#sockets) socket.close();
  }
}
