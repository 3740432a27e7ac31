/**
 * Which nodes are silent although requests wait for them.
 *
 * The driver learns from a socket that a node is gone. A frozen node, or a network that drops
 * packets, closes no socket. Then each request would wait for its whole timeout. So a node that
 * answers none of its requests is probed, and other nodes are preferred until it answers anything.
 * The connection of a silent node is closed, because a new one may work. Slow statements make no
 * node silent, because the probe is answered meanwhile.
 */
export interface NodeHealthOptions {
  /** The longest accepted silence of a node with pending requests. */
  readonly maxSilenceMs: number;
  /** Returns whether requests may still be sent to the node. */
  readonly isListed: (address: string) => boolean;
  /** Sends a request to the node. Returns `undefined` if it has no connection. */
  readonly probe: (address: string) => Probe | undefined;
}

export interface Probe {
  /** Resolves when the node has answered, and rejects if it has not. */
  readonly answer: Promise<unknown>;
  /** Closes the connection that the request was sent over. */
  closeConnection(): void;
}

interface NodeState {
  pendingCount: number;
  /** When the node answered, or when the first of its requests was sent. */
  waitingSinceMs: number;
  isSilent: boolean;
}

const CHECKS_PER_SILENCE = 4;

export class NodeHealth {
  readonly #options: NodeHealthOptions;
  readonly #intervalMs: number;
  readonly #nodes = new Map<string, NodeState>();
  #timer: NodeJS.Timeout | undefined;
  #lastCheckMs = 0;

  constructor(options: NodeHealthOptions) {
    this.#options = options;
    this.#intervalMs = options.maxSilenceMs / CHECKS_PER_SILENCE;
  }

  isSilent(address: string): boolean {
    return this.#nodes.get(address)?.isSilent === true;
  }

  recordSent(address: string): void {
    const state = this.#getState(address);
    if (state.pendingCount === 0) state.waitingSinceMs = performance.now();
    state.pendingCount += 1;
    this.#startTimer();
  }

  /** Notes that a request has ended. An error of the node is an answer too. */
  recordEnded(address: string, isAnswered: boolean): void {
    const state = this.#getState(address);
    state.pendingCount -= 1;
    if (isAnswered) recordAnswer(state);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#nodes.clear();
  }

  #getState(address: string): NodeState {
    const existing = this.#nodes.get(address);
    if (existing !== undefined) return existing;
    const state: NodeState = {
      pendingCount: 0,
      waitingSinceMs: 0,
      isSilent: false,
    };
    this.#nodes.set(address, state);
    return state;
  }

  #startTimer(): void {
    if (this.#timer !== undefined) return;
    this.#lastCheckMs = performance.now();
    this.#timer = setInterval(() => this.#check(), this.#intervalMs);
    // Requests keep the process alive by their sockets, so the timer need not.
    this.#timer.unref();
  }

  #check(): void {
    const nowMs = performance.now();
    // This process has stalled: answers that arrived meanwhile are still unread.
    const hasStalled = nowMs - this.#lastCheckMs > 2 * this.#intervalMs;
    this.#lastCheckMs = nowMs;
    let isWaiting = false;
    for (const [address, state] of this.#nodes) {
      const isProbed = state.isSilent && this.#options.isListed(address);
      if (state.pendingCount <= 0 && !isProbed) {
        this.#nodes.delete(address);
        continue;
      }
      isWaiting = true;
      if (hasStalled) state.waitingSinceMs = nowMs;
      const silentMs = nowMs - state.waitingSinceMs;
      if (silentMs >= this.#options.maxSilenceMs) state.isSilent = true;
      if (2 * silentMs >= this.#options.maxSilenceMs) void this.#probe(address, state);
    }
    if (isWaiting) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #probe(address: string, state: NodeState): Promise<void> {
    const probe = this.#options.probe(address);
    if (probe === undefined) return;
    try {
      await probe.answer;
      recordAnswer(state);
    } catch (error) {
      // The next check probes again.
      if (isAnswer(error)) recordAnswer(state);
      else if (this.isSilent(address)) probe.closeConnection();
    }
  }
}

/** Returns whether an error is one that the node has sent. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && typeof (error as { readonly code?: unknown }).code === 'number';
}

function recordAnswer(state: NodeState): void {
  state.waitingSinceMs = performance.now();
  state.isSilent = false;
}
