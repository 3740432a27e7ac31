/**
 * A network in memory between real clients and real gateways: pairs of sockets, whose two
 * directions can each be delayed, swallowed or cut. It looks into what it carries, so that it knows
 * which operations have left their client.
 */
import type { Gateway } from '../../../src/server/gateway/gateway.ts';
import type {
  ServerSocket,
  ServerSocketEvents,
} from '../../../src/server/gateway/connection/socket.ts';
import type {
  WebSocketConstructor,
  WebSocketLike,
} from '../../../src/transport/options/websocket.ts';

type Data = string | Uint8Array<ArrayBuffer>;

/** The current behaviour of the network. */
export interface Weather {
  delayMs: number;
  /** Whether bytes in this direction are lost. */
  losesRequests: boolean;
  losesAnswers: boolean;
}

/** The network, with the gateways that listen on it. */
export class Network {
  readonly weather: Weather = { delayMs: 1, losesRequests: false, losesAnswers: false };
  readonly WebSocket: WebSocketConstructor;
  /** Called when a welcome reaches a client, with the token of its hello. */
  onWelcome: ((token: string) => void) | undefined;
  /** Called just before a client notices that its connection is over. */
  onClosing: (() => void) | undefined;
  /** The gateways by address. An address without a gateway refuses connections. */
  readonly gateways = new Map<string, Gateway>();
  readonly #pairs = new Set<Pair>();
  /** All data that clients have sent, to find out which operations were sent. */
  #sent = '';

  constructor() {
    const opened = (url: string, protocols: string[]): Pair => this.#open(url, protocols);
    this.WebSocket = class {
      constructor(url: string, protocols: string[]) {
        // oxlint-disable-next-line no-constructor-return -- the class is what the client asks for, the pair what it gets
        return opened(url, protocols).client as never;
      }
    } as unknown as WebSocketConstructor;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /**
   * Returns whether a client ever gave the update with this mark to a socket. Reads of the mark do
   * not count.
   */
  hasLeft(mark: string): boolean {
    return new RegExp(`bump(?:(?!count)[^]){0,80}${mark.replace('.', '\\.')}`).test(this.#sent);
  }

  carried(text: string): void {
    this.#sent += text;
  }

  /** Cuts all connections; both ends notice at once. */
  cut(): void {
    for (const pair of this.#pairs) pair.cut();
  }

  /** Ends all connections of a gateway, as if its process was killed. */
  kill(gateway: Gateway): void {
    for (const pair of this.#pairs) if (pair.gateway === gateway) pair.cut();
  }

  over(pair: Pair): void {
    this.#pairs.delete(pair);
  }

  #open(url: string, protocols: string[]): Pair {
    const pair = new Pair(this, url, protocols[0] ?? '');
    this.#pairs.add(pair);
    return pair;
  }
}

function textOf(data: Data): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
}

/** The token in a hello, in either codec. */
const TOKEN = /hello.*token"?:?"?[^a-z]?([a-z]+)/s;

/**
 * One direction of a connection. Messages stay in order even if a later one has a shorter delay.
 */
class Line {
  readonly #underWay: { readonly act: () => void; isDue: boolean }[] = [];

  carry(delayMs: number, act: () => void): void {
    const item = { act, isDue: false };
    this.#underWay.push(item);
    setTimeout(() => {
      item.isDue = true;
      while (this.#underWay[0]?.isDue === true) this.#underWay.shift()?.act();
    }, delayMs);
  }
}

/** One connection, with the end of the client and the end of the gateway. */
export class Pair {
  gateway: Gateway | undefined;
  readonly client: ClientEnd;
  readonly #network: Network;
  readonly #server: ServerEnd;
  readonly #requests = new Line();
  readonly #answers = new Line();
  #isOver = false;
  /**
   * Whether bytes were lost. Then no later bytes of that direction arrive either, because a stream
   * has no gaps.
   */
  #hasLostRequests = false;
  #hasLostAnswers = false;
  #token = '';

  constructor(network: Network, url: string, subprotocol: string) {
    this.#network = network;
    this.client = new ClientEnd(this);
    this.#server = new ServerEnd(this, subprotocol);
    this.#later(this.#requests, () => this.#connect(new URL(url).host));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get #isCutOff(): boolean {
    const { losesRequests, losesAnswers } = this.#network.weather;
    return losesRequests || losesAnswers;
  }

  #connect(host: string): void {
    if (this.#isOver) return;
    const { gateways } = this.#network;
    // Send no reply, so that the client waits until its time limit.
    if (this.#isCutOff) return;
    const gateway = gateways.get(host);
    if (gateway === undefined || !gateway.isAccepting) return this.cut();
    this.gateway = gateway;
    gateway.accept(this.#server, { remoteAddress: undefined, origin: undefined });
    this.client.onopen?.({} as never);
  }

  toServer(data: Data): void {
    const text = textOf(data);
    // Record the data also after the end of the connection: the client may not know of it yet.
    this.#network.carried(text);
    if (this.#isOver) return;
    this.#token = TOKEN.exec(text)?.[1] ?? this.#token;
    this.#hasLostRequests ||= this.#network.weather.losesRequests;
    if (!this.#hasLostRequests)
      this.#later(this.#requests, () => this.#isOver || this.#server.receive(data));
  }

  toClient(data: Data): void {
    if (this.#isOver) return;
    this.#hasLostAnswers ||= this.#network.weather.losesAnswers;
    if (this.#hasLostAnswers) return;
    const value = typeof data === 'string' ? data : data.slice().buffer;
    const isWelcome = textOf(data).includes('welcome');
    this.#later(this.#answers, () => {
      if (this.#isOver) return;
      if (isWelcome) this.#network.onWelcome?.(this.#token);
      this.client.onmessage?.({ data: value } as never);
    });
  }

  /** One end closes the connection after the messages that it has sent. */
  close(end: 'client' | 'server', code: number, reason: string): void {
    const line = end === 'client' ? this.#requests : this.#answers;
    const isLost = end === 'client' ? this.#hasLostRequests : this.#hasLostAnswers;
    if (!isLost && !this.#isCutOff) this.#later(line, () => this.#end(code, reason));
  }

  /** The client's end answers a ping by itself, if no bytes are lost. */
  ping(answered: () => void): void {
    const isLost = this.#hasLostRequests || this.#hasLostAnswers;
    if (!isLost && !this.#isCutOff) this.#later(this.#answers, () => this.#isOver || answered());
  }

  /** Ends the connection at once for both ends. */
  cut(): void {
    this.#end(1006, '');
  }

  /** The gateway cuts; the client notices it unless messages to it are lost. */
  terminate(): void {
    this.#end(1006, '', !this.#network.weather.losesAnswers);
  }

  #end(code: number, reason: string, hasListener = true): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#network.over(this);
    const { client } = this;
    const events = this.#server.events;
    setImmediate(() => {
      if (hasListener) {
        this.#network.onClosing?.();
        client.onclose?.({ code, reason } as never);
      }
      events?.onClose();
    });
  }

  #later(line: Line, act: () => void): void {
    line.carry(this.#network.weather.delayMs, act);
  }
}

class ClientEnd implements WebSocketLike {
  binaryType = '';
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly #pair: Pair;

  constructor(pair: Pair) {
    this.#pair = pair;
  }

  send(data: Data): void {
    this.#pair.toServer(data);
  }

  close(code = 1000, reason = ''): void {
    this.#pair.close('client', code, reason);
  }

  terminate(): void {
    this.#pair.cut();
  }
}

/** Describes one of the parts in which a gateway sends a long message. */
interface Part {
  readonly isText: boolean;
  readonly isLast: boolean;
  onSent(): void;
}

class ServerEnd implements ServerSocket {
  readonly subprotocol: string;
  readonly bufferedBytes = 0;
  events: ServerSocketEvents | undefined;
  readonly #pair: Pair;
  readonly #parts: Buffer[] = [];
  readonly #unread: Data[] = [];
  #isPaused = false;

  constructor(pair: Pair, subprotocol: string) {
    this.#pair = pair;
    this.subprotocol = subprotocol;
  }

  listen(events: ServerSocketEvents): void {
    this.events = events;
  }

  send(data: Data, part?: Part): void {
    if (part === undefined) return this.#pair.toClient(data);
    this.#parts.push(Buffer.from(data as string));
    if (part.isLast) {
      const whole = Buffer.concat(this.#parts.splice(0));
      this.#pair.toClient(part.isText ? whole.toString() : new Uint8Array(whole));
    }
    setTimeout(() => part.onSent(), 1);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const data of this.#unread.splice(0)) this.receive(data);
  }

  receive(data: Data): void {
    if (this.#isPaused) this.#unread.push(data);
    else this.events?.onFrame(data);
  }

  ping(): void {
    this.#pair.ping(() => this.events?.onPong());
  }

  close(code: number, reason: string): void {
    this.#pair.close('server', code, reason);
  }

  terminate(): void {
    this.#pair.terminate();
  }
}
