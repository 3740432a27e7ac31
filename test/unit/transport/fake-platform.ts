/** A platform for the connection that the test drives by hand: sockets, time, ticks. */
import type { Scheduling } from '../../../src/transport/options/scheduling.ts';
import type {
  WebSocketConstructor,
  WebSocketLike,
} from '../../../src/transport/options/websocket.ts';

/** A socket whose server is the test. */
export class FakeSocket implements WebSocketLike {
  binaryType = '';
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly url: string;
  readonly protocols: string[];
  readonly sent: unknown[][] = [];
  closedByClient = false;

  constructor(url: string, protocols: string[]) {
    this.url = url;
    this.protocols = protocols;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.sent.push(...(JSON.parse(String(data)) as unknown[][]));
  }

  close(): void {
    this.closedByClient = true;
  }

  open(): void {
    this.onopen?.({} as never);
  }

  receive(...rows: unknown[]): void {
    this.receiveText(JSON.stringify(rows));
  }

  receiveText(data: string): void {
    this.onmessage?.({ data } as never);
  }

  /** The server, or the network, closes. */
  lose(code = 1006, reason = ''): void {
    this.onclose?.({ code, reason } as never);
  }

  /** Rows sent of one kind. */
  rows(kind: string): unknown[][] {
    return this.sent.filter((row) => row[1] === kind);
  }
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Time that passes when the test advances it. */
export class FakePlatform implements Scheduling {
  readonly sockets: FakeSocket[] = [];
  readonly WebSocket: WebSocketConstructor;
  #now = 1_000_000;
  #timers = new Set<Timer>();
  #ticks: (() => void)[] = [];

  constructor() {
    const { sockets } = this;
    this.WebSocket = class extends FakeSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        sockets.push(this);
      }
    };
  }

  get socket(): FakeSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error('no socket was opened');
    return last;
  }

  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimer(fn: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + delayMs, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  afterTick(fn: () => void): void {
    this.#ticks.push(fn);
  }

  /** Ends the tick: what was collected in it is sent. */
  tick(): void {
    for (const fn of this.#ticks.splice(0)) fn();
  }

  /** The machine sleeps: time passes, and no timer runs in it. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass, running the timers that come due in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      // One that came due during a sleep runs late.
      this.#now = Math.max(this.#now, due.at);
      due.fn();
      this.tick();
    }
    this.#now = until;
  }
}

/** Lets promise callbacks run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}
