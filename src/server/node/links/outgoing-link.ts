/**
 * The link to one peer: dials it, sends envelopes in order, and dials again when the connection is
 * lost.
 */
import { isRecord } from '../../../correctable/validate.ts';
import { Fifo } from '../../service/collections/fifo.ts';
import { LINK_LIMITS, type LinkLimits } from './link.ts';
import type { ClusterAddress } from '../cluster/cluster-file.ts';
import type { DeploymentSetup } from '../cluster/deployment-setup.ts';
import { FRAME, MAX_PART_BYTES, type Frame } from './frames.ts';
import type { ClusterKeys } from '../cluster/key-file.ts';
import { LinkConnection, type LinkTraffic } from './link-connection.ts';
import { RefusedError, dialSecurely, explainDialError } from './link-security.ts';
import { ENVELOPE_VERSION, OLDEST_ENVELOPE_VERSION } from '../../site/wire/envelope-codec.ts';

/** The first request on a connection. */
interface ConnectRequest extends LinkVersions {
  readonly deployment: string;
  /** The site that dialed; `null` for a command. */
  readonly from: string | null;
  readonly to: string;
  /**
   * Whether the site that dialed is about to become a member. Then it is refused without an alarm.
   */
  readonly isJoining?: boolean;
  /** The setup that the dialing site has for the deployment. */
  readonly setup?: DeploymentSetup | undefined;
}

export interface OutgoingLinkOptions {
  readonly from: string;
  readonly to: string;
  readonly address: ClusterAddress;
  readonly keys: ClusterKeys;
  readonly traffic: LinkTraffic;
  readonly limits?: LinkLimits | undefined;
  readonly heartbeatIntervalMs?: number | undefined;
  /** Receives envelopes that the peer sends back on this connection. */
  onEnvelopes(contents: readonly Uint8Array[]): void;
  /** Returns the reply to a request of the peer. */
  onRequest(kind: string, body: unknown): unknown;
  onConnected(): void;
  /** Returns the setup that this site has for the deployment. */
  getSetup?(): DeploymentSetup | undefined;
  /** Whether this site is not a member yet. Default: it is a member */
  isJoining?(): boolean;
  /** Called when the connection was lost, or could not be opened. */
  onDisconnected(error: Error | undefined): void;
  /** Called when the peer or this site refuses the other. Dialing again would not help. */
  onRefused(problem: string): void;
  /** Called when a message was dropped because too many wait. */
  onFull(): void;
}

const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1000;
/**
 * Messages that wait longer than this for a connection are dropped. Sites resend the ones that
 * matter.
 */
const MAX_OUTAGE_MS = 1000;
/** Slices are sent while fewer bytes than this are unconfirmed. */
const MAX_UNCONFIRMED_BYTES_FOR_SLICES = 1 << 20;

interface QueuedSlice {
  readonly content: Uint8Array;
  resolve(): void;
  reject(error: Error): void;
}

/** A link. It connects as soon as it is created. */
export class OutgoingLink {
  readonly #options: OutgoingLinkOptions;
  readonly #limits: LinkLimits;
  readonly #queue = new Fifo<Uint8Array>();
  readonly #slices = new Fifo<QueuedSlice>();
  #queuedBytes = 0;
  /** Bytes of the first message in the queue that were written. */
  #writtenOfFirst = 0;
  #droppedMessages = 0;
  #connection: LinkConnection | undefined;
  #isConnected = false;
  #version = LINK_VERSIONS.version;
  #isFlushing = false;
  #isClosed = false;
  #backoffMs = MIN_BACKOFF_MS;
  #retry: NodeJS.Timeout | undefined;
  #downSinceMs = performance.now();

  constructor(options: OutgoingLinkOptions) {
    this.#options = options;
    this.#limits = options.limits ?? LINK_LIMITS;
    this.#dial();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The version of envelopes that the peer reads, as it last reported. */
  get version(): number {
    return this.#version;
  }

  get queuedMessages(): number {
    return this.#queue.size;
  }

  get queuedBytes(): number {
    return this.#queuedBytes + (this.#connection?.pendingBytes ?? 0);
  }

  get droppedMessages(): number {
    return this.#droppedMessages;
  }

  get roundTripMs(): number | undefined {
    return this.#isConnected ? this.#connection?.roundTripMs : undefined;
  }

  /** Sends an envelope after the earlier ones. Drops it if too many wait, as a network does. */
  send(content: Uint8Array): void {
    if (this.#isClosed) return;
    if (!this.#isConnected && performance.now() - this.#downSinceMs > MAX_OUTAGE_MS)
      return this.#dropQueue();
    const { maxMessages, maxBytes } = this.#limits;
    const { size } = this.#queue;
    // One message is always accepted, however large it is.
    if (size >= maxMessages || (size > 0 && this.#queuedBytes + content.length > maxBytes)) {
      this.#droppedMessages += 1;
      return this.#options.onFull();
    }
    this.#queue.push(content);
    this.#queuedBytes += content.length;
    if (!this.#isConnected || this.#isFlushing) return;
    // Write all messages of one turn of the event loop together.
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  /**
   * Sends a slice of a state transfer when nothing else waits. Rejects if the connection is lost
   * before.
   */
  sendSlice(content: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#isConnected) return reject(new Error(`the link to ${this.#options.to} is down`));
      this.#slices.push({ content, resolve, reject });
      this.#flush();
    });
  }

  /**
   * Sends a request and resolves with the reply. Rejects if there is no connection, or no reply in
   * time.
   */
  request(kind: string, body: unknown, timeoutMs?: number): Promise<unknown> {
    const connection = this.#connection;
    if (connection === undefined || !this.#isConnected)
      return Promise.reject(new Error(`the link to ${this.#options.to} is down`));
    return connection.request(kind, body, timeoutMs);
  }

  /** Closes the link once all waiting messages were passed to the socket. */
  close(): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    clearTimeout(this.#retry);
    if (this.#isConnected) this.#connection?.end();
    else this.#connection?.close();
  }

  #dial(): void {
    const { address, keys, traffic, onEnvelopes, onRequest } = this.#options;
    const socket = dialSecurely(address, keys, () => void this.#introduce(connection));
    const connection = new LinkConnection(socket, {
      onEnvelopes,
      onRequest,
      onConfirmed: () => this.#flush(),
      onClosed: (error) => this.#onClosed(error),
    });
    connection.traffic = traffic;
    // Accept large replies: the peer has authenticated itself by the key.
    connection.isKnown = true;
    this.#connection = connection;
  }

  async #introduce(connection: LinkConnection): Promise<void> {
    const { from, to, keys, heartbeatIntervalMs, isJoining, getSetup } = this.#options;
    try {
      const joining = isJoining?.() === true ? { isJoining: true } : {};
      const version = await introduce(connection, {
        deployment: keys.deployment,
        from,
        to,
        setup: getSetup?.(),
        ...joining,
      });
      if (connection !== this.#connection || this.#isClosed) return;
      if (performance.now() - this.#downSinceMs > MAX_OUTAGE_MS) this.#dropQueue();
      this.#isConnected = true;
      this.#version = version;
      this.#backoffMs = MIN_BACKOFF_MS;
      connection.startHeartbeats(true, heartbeatIntervalMs);
      this.#options.onConnected();
      this.#flush();
    } catch (error) {
      connection.close(error as Error);
    }
  }

  #onClosed(reason: Error | undefined): void {
    const error = reason && explainDialError(reason);
    if (this.#isConnected) this.#downSinceMs = performance.now();
    this.#isConnected = false;
    this.#connection = undefined;
    // A message that was partly written is sent again from its beginning.
    this.#queuedBytes += this.#writtenOfFirst;
    this.#writtenOfFirst = 0;
    const lost = error ?? new Error(`the link to ${this.#options.to} is down`);
    for (let slice = this.#slices.shift(); slice !== undefined; slice = this.#slices.shift())
      slice.reject(lost);
    if (this.#isClosed) return;
    if (error instanceof RefusedError) this.#options.onRefused(error.message);
    this.#options.onDisconnected(error);
    const delayMs = this.#backoffMs * (1 + Math.random()) * 0.5;
    this.#backoffMs = Math.min(this.#backoffMs * 2, MAX_BACKOFF_MS);
    this.#retry = setTimeout(() => this.#dial(), delayMs);
  }

  #dropQueue(): void {
    this.#droppedMessages += this.#queue.size;
    while (this.#queue.shift() !== undefined);
    this.#queuedBytes = 0;
    this.#writtenOfFirst = 0;
  }

  #flush(): void {
    this.#isFlushing = false;
    const connection = this.#connection;
    if (connection === undefined || !this.#isConnected || this.#isClosed) return;

    const frames: Frame[] = [];
    for (let { room } = connection; room > 0 && this.#queue.size > 0;) {
      const frame = this.#takePart(this.#queue.at(0) as Uint8Array);
      room -= frame.content.length;
      frames.push(frame);
    }
    if (frames.length > 0) connection.write(frames);

    while (
      this.#queue.size === 0 &&
      this.#slices.size > 0 &&
      connection.room > 0 &&
      connection.unconfirmedBytes < MAX_UNCONFIRMED_BYTES_FOR_SLICES
    ) {
      const { content, resolve } = this.#slices.shift() as QueuedSlice;
      connection.write([{ type: FRAME.slice, content }]);
      resolve();
    }
  }

  /** Takes the next part of the first message out of the queue. */
  #takePart(message: Uint8Array): Frame {
    const start = this.#writtenOfFirst;
    const end = Math.min(message.length, start + MAX_PART_BYTES);
    const content = message.subarray(start, end);
    this.#queuedBytes -= content.length;
    this.#writtenOfFirst = end;
    if (end < message.length) return { type: FRAME.part, content };

    this.#queue.shift();
    this.#writtenOfFirst = 0;
    return { type: FRAME.envelope, content };
  }
}

/**
 * Names both ends, and returns the version that both use. @throws Error if the other end refuses
 * the connection
 */
export async function introduce(
  connection: LinkConnection,
  ends: Omit<ConnectRequest, keyof LinkVersions>,
): Promise<number> {
  const request: ConnectRequest = { ...LINK_VERSIONS, ...ends };
  const reply = await connection.request('connect', request);
  const refused = isRecord(reply) ? reply['refused'] : undefined;
  if (refused !== undefined) throw new RefusedError(String(refused));
  const version = agreeOnVersion(LINK_VERSIONS, parseVersions(reply) ?? LINK_VERSIONS);
  if (version === undefined)
    throw new RefusedError('it uses a version that this site does not know');
  return version;
}

/** The versions that one end knows. */
export interface LinkVersions {
  readonly version: number;
  readonly oldest: number;
}

/** The versions that this program knows. */
export const LINK_VERSIONS: LinkVersions = {
  version: ENVELOPE_VERSION,
  oldest: OLDEST_ENVELOPE_VERSION,
};

/**
 * Reads the versions of the other end. If the other end names only one version, it knows only that
 * one.
 */
export function parseVersions(value: unknown): LinkVersions | undefined {
  const { version, oldest = version } = isRecord(value) ? value : {};
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(oldest)) return undefined;
  return { version: version as number, oldest: oldest as number };
}

/** Returns the version that both ends use; `undefined` if there is none. */
export function agreeOnVersion(own: LinkVersions, other: LinkVersions): number | undefined {
  const version = Math.min(own.version, other.version);
  return version >= Math.max(own.oldest, other.oldest) ? version : undefined;
}

/**
 * Describes that two ends have no version in common, and which one to upgrade. `site` is this end,
 * `from` the other.
 */
export function describeMismatch(
  site: string,
  own: LinkVersions,
  from: string,
  other: LinkVersions,
): string {
  const older = own.version < other.version ? site : from;
  const versions = `${from} uses version ${other.version} of links, and ${site} uses version ${own.version}`;
  return `${versions}: upgrade ${older}, by one version at a time`;
}
