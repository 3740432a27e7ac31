/**
 * The handshake of one site with another. A node that starts on an outdated directory, or on a copy
 * of one in use, would give its operations numbers that others have already. So after each start, a
 * node first sends how much of the streams it has (`node.hello`). Only sites whose copies agree
 * with that accept its messages.
 *
 * A hello may be late: the receiver may have got more of the stream from others by then. So the
 * starting node itself compares a receiver that has more with its present state. Different entries
 * at one position prove a fork, whichever site finds them.
 *
 * A copy of a directory may be up to date, and its node may run beside the original node. Only one
 * of the two is at the address of the site. So a later start is accepted only once a message of
 * this site has reached it at that address. If the earlier node gets the message instead, it
 * reports the copy.
 */
import { getStartNumber } from '../../log/epoch.ts';
import { RED, type Origin, type Origins } from '../../service/records/origin.ts';
import type { StreamPoint } from '../../service/records/records.ts';
import {
  MAIN_PARTITION,
  type ForkMessage,
  type HelloMessage,
  type KnownMessage,
  type LogPoint,
  type NodeMessage,
  type TwinMessage,
} from './envelope.ts';

/** The streams that a site has. That of the origin of a red log is its copy of the log. */
export interface KnownStreams {
  /** Returns the synced end of a stream. It is `undefined` for a red log that no site sequences. */
  getEnd(origin: Origin): StreamPoint | undefined;
  /** Returns the digest of the first `length` entries. It is `undefined` if it is unknown. */
  getDigest(origin: Origin, length: number): number | undefined;
}

export interface NodeHandshakeOptions {
  readonly site: Origin;
  readonly origins: Origins;
  /** The sites whose red logs the others have copies of, by the ordinals of their partitions. */
  readonly leaders: readonly Origin[];
  readonly directory: string;
  readonly generation: number;
  /** How long to wait for an answer before a request is sent again. */
  readonly resendAfterMs: number;
  /**
   * Whether a start is a fork if its directory does not know the start of its site that was
   * accepted last.
   */
  readonly refusesUnknownStarts: boolean;
  readonly streams: KnownStreams;
  getEpoch(): number;
  /** The highest term of a site that was accepted, and the directory of that start. */
  getAccepted(site: Origin): number;
  getDirectory(site: Origin): string | undefined;
  send(to: Origin, message: NodeMessage): void;
  /** Called when the start of a site with this term is accepted. */
  onAccepted(site: Origin, term: number, directory: string): void;
  /** Called when messages of this start of a site are refused from now on. */
  onPeerForked(site: Origin, reason: string): void;
  /** Called when this node must stop. */
  onForked(reason: string): void;
}

export class NodeHandshake {
  readonly #options: NodeHandshakeOptions;
  /** When a site last got a request for its hello, or the notice that it is forked. */
  readonly #askedAtMs = new Map<Origin, number>();
  /** Starts of sites whose messages are refused, with the reason. */
  readonly #forked = new Map<Origin, ForkMessage[]>();
  /** Sites that have accepted this start. */
  readonly #confirmed = new Set<Origin>();
  /** For each site, the start that has sent the last hello. */
  readonly #heard = new Map<Origin, number>();

  constructor(options: NodeHandshakeOptions) {
    this.#options = options;
  }

  /**
   * Whether another site has accepted this start. Then its stream certainly continues the copies of
   * the others.
   */
  get isConfirmed(): boolean {
    return this.#confirmed.size > 0;
  }

  /** Sends a hello to all others, and requests theirs. */
  greetAll(nowMs: number): void {
    this.#confirmed.clear();
    this.#askedAtMs.clear();
    for (const site of this.#others) this.ask(site, nowMs);
  }

  /** Sends a hello to a site, and requests its own. */
  greet(site: Origin): void {
    this.#send(site, true);
  }

  /** Sends a hello again to sites that have not accepted this start. */
  tick(nowMs: number): void {
    for (const site of this.#others) if (!this.#confirmed.has(site)) this.ask(site, nowMs);
  }

  /**
   * Requests the hello of a site, or notifies its start with this term that it is forked, unless
   * that was done just now.
   */
  ask(site: Origin, nowMs: number, term = Infinity): void {
    if (this.#isTooSoon(site, nowMs)) return;
    const fork = this.#getFork(site, term);
    if (fork === undefined) this.#send(site, true);
    else this.#options.send(site, fork);
  }

  /**
   * Returns whether the messages of a start are refused. An earlier start of the site may continue
   * instead.
   */
  isForked(site: Origin, term: number): boolean {
    return this.#getFork(site, term) !== undefined;
  }

  #getFork(site: Origin, term: number): ForkMessage | undefined {
    return this.#forked.get(site)?.find((fork) => fork.term === term);
  }

  receive(from: Origin, term: number, message: NodeMessage): void {
    if (message.kind === 'node.hello') this.#onHello(from, term, message);
    else if (message.kind === 'node.known') this.#onKnown(from, message);
    else if (message.kind === 'node.twin') this.#onTwin(from, term, message);
    else if (message.term === this.#options.getEpoch())
      this.#options.onForked(`${this.#options.origins.getName(from)} reports: ${message.reason}`);
  }

  /**
   * Reports to the other sites that this start stops, because another node of its site continues.
   */
  reportOwnFork(reason: string): void {
    for (const site of this.#others) this.#sendTwin(site, this.#options.getEpoch(), reason);
  }

  /**
   * Called if the stream of a site differs from the copy here. From now on, messages of the start
   * that has sent it are refused.
   */
  noteFork(site: Origin, reason: string, term: number = this.#options.getAccepted(site)): void {
    const fork: ForkMessage = { kind: 'node.fork', term, reason };
    const isNew = !this.isForked(site, term);
    if (isNew) this.#forked.set(site, [...(this.#forked.get(site) ?? []), fork]);
    this.#options.send(site, fork);
    if (isNew) this.#options.onPeerForked(site, reason);
  }

  #onHello(from: Origin, term: number, hello: HelloMessage): void {
    const { directory, accepted, isRequest, generation } = hello;
    if (generation !== this.#options.generation) return;
    this.#heard.set(from, term);
    const known = this.#getFork(from, term);
    if (known !== undefined) return this.#options.send(from, known);
    const ownFork = this.#findOwnFork(from, hello);
    if (ownFork !== undefined) return this.#options.onForked(ownFork);
    const fork = this.#findUnknownStart(from, term) ?? this.#findFork(from, hello);
    if (fork !== undefined) return this.noteFork(from, fork, term);
    if (accepted === this.#options.getEpoch()) this.#confirmed.add(from);
    const isProven = this.#isProven(from, hello) && this.#isReached(from, term, hello);
    if (isProven) this.#options.onAccepted(from, term, directory);
    else this.#tellKnown(from, term);
    if (isRequest || !isProven) this.#send(from, !isProven || !this.#confirmed.has(from), hello);
  }

  /**
   * Returns whether a start is known to be at the address of its site, as far as this site can
   * reach that address.
   */
  #isReached(from: Origin, term: number, { heard }: HelloMessage): boolean {
    const { refusesUnknownStarts, getEpoch, getAccepted } = this.#options;
    return !refusesUnknownStarts || term === getAccepted(from) || heard === getEpoch();
  }

  /** Reports to a start that is not accepted yet which entries of its site are here. */
  #tellKnown(to: Origin, term: number): void {
    const { refusesUnknownStarts, streams, send } = this.#options;
    if (!refusesUnknownStarts) return;
    const known = streams.getEnd(to);
    send(to, {
      kind: 'node.known',
      term,
      known: toPlain(known ?? { length: 0 }),
      ...this.#createEnds(),
    });
  }

  #onKnown(from: Origin, message: KnownMessage): void {
    const { getEpoch, onForked } = this.#options;
    const own = getEpoch();
    if (message.term === own) {
      const fork = this.#findOwnFork(from, message);
      if (fork !== undefined) onForked(fork);
      return;
    }
    // An earlier start has ended. A later start proves that another node runs.
    if (getStartNumber(message.term) < getStartNumber(own)) return;
    this.#sendTwin(from, message.term, 'another node runs at the address of the site');
  }

  /**
   * Handles a report of two nodes. Only the start that stops, and the accepted start, may send it.
   */
  #onTwin(from: Origin, term: number, { term: twin, reason }: TwinMessage): void {
    if (twin === term) this.noteFork(from, `it has stopped: ${reason}`, twin);
    else if (term === this.#options.getAccepted(from)) this.noteFork(from, reason, twin);
  }

  #sendTwin(to: Origin, term: number, reason: string): void {
    this.#options.send(to, { kind: 'node.twin', term, reason });
  }

  /** Returns the reason if another node of this site has a longer stream. */
  #findOwnFork(from: Origin, message: KnownMessage | HelloMessage): string | undefined {
    const { site } = this.#options;
    let problem = this.#findExcess(from, site, message.known);
    for (const [log, point] of this.#getLogsOf(site, getEnds(message)))
      problem ??= this.#findExcess(from, log, point);
    return problem;
  }

  #findExcess(from: Origin, origin: Origin, point: StreamPoint | undefined): string | undefined {
    const end = this.#options.streams.getEnd(origin);
    if (point === undefined || end === undefined) return undefined;
    const { origins } = this.#options;
    const name = origins.getName(from);
    const what = origins.isLog(origin)
      ? `entries of ${this.#describeLog(origin)}`
      : 'operations of this site';
    if (point.length > end.length)
      return `${name} has ${point.length} ${what}, and there are ${end.length} here`;
    return this.#differs(origin, point)
      ? `the first ${point.length} ${what} are others at ${name}`
      : undefined;
  }

  /**
   * Returns the reason if a start runs on a directory that is older than the last accepted start.
   * Each start has a higher number.
   */
  #findUnknownStart(from: Origin, term: number): string | undefined {
    const accepted = this.#options.getAccepted(from);
    const isKnown = term === accepted || getStartNumber(term) > getStartNumber(accepted);
    if (isKnown || accepted === 0 || !this.#options.refusesUnknownStarts) return undefined;
    return `its data directory does not know its start ${accepted}, which was accepted here`;
  }

  /** Returns the reason if the stream of a site differs from the copy here. */
  #findFork(from: Origin, hello: HelloMessage): string | undefined {
    const { directory, own, ownBefore } = hello;
    const known = this.#options.getDirectory(from);
    if (known !== undefined && known !== directory)
      return 'it is known here on another data directory';
    for (const point of [own, ownBefore])
      if (this.#differs(from, point))
        return `its first ${point?.length} operations are not those that are here`;
    const points = [...getEnds(hello), ...getEarlierPoints(hello)];
    for (const [log, point] of this.#getLogsOf(from, points))
      if (this.#differs(log, point))
        return `the first ${point.length} entries of ${this.#describeLog(log)} are not those that are here`;
    return undefined;
  }

  /** Returns the points that are of logs which this site leads. */
  #getLogsOf(
    site: Origin,
    points: readonly LogPoint[],
  ): (readonly [log: Origin, point: StreamPoint])[] {
    const { leaders, origins } = this.#options;
    return points
      .filter(([partition]) => leaders[partition] === site)
      .map(([partition, point]) => [origins.logs[partition] as Origin, point]);
  }

  #describeLog(log: Origin): string {
    return log === RED ? 'the red log' : `the red log of ${this.#options.origins.getName(log)}`;
  }

  /** Returns whether both sides know the digest at a position, and the digests differ. */
  #differs(origin: Origin, point: StreamPoint | undefined): boolean {
    if (point?.digest === undefined) return false;
    const here = this.#options.streams.getDigest(origin, point.length);
    return here !== undefined && here !== point.digest;
  }

  /**
   * Returns whether a site certainly has everything of its stream that is here, and of each red log
   * that it leads.
   */
  #isProven(from: Origin, hello: HelloMessage): boolean {
    if (!this.#contains(from, hello.own, hello.ownBefore)) return false;
    const before = new Map(this.#getLogsOf(from, getEarlierPoints(hello)));
    return this.#getLogsOf(from, getEnds(hello)).every(([log, end]) =>
      this.#contains(log, end, before.get(log)),
    );
  }

  #contains(origin: Origin, end: StreamPoint, before: StreamPoint | undefined): boolean {
    const { length } = this.#options.streams.getEnd(origin) ?? { length: 0 };
    return length === 0 || length === end.length || (length < end.length && before !== undefined);
  }

  /** @param hello the hello that is answered, whose ends are compared with those here */
  #send(to: Origin, isRequest: boolean, hello?: HelloMessage): void {
    const { site, directory, generation, streams, getAccepted, send } = this.#options;
    const heard = this.#heard.get(to);
    const [own, known] = [site, to].map((origin) => streams.getEnd(origin));
    send(to, {
      kind: 'node.hello',
      directory,
      generation,
      accepted: getAccepted(to),
      own: toPlain(own ?? { length: 0 }),
      known: toPlain(known ?? { length: 0 }),
      isRequest,
      ...(heard === undefined ? {} : { heard }),
      ...this.#createEnds(),
      ...(hello !== undefined && this.#createEarlierPoints(hello)),
    });
  }

  /**
   * Returns how far this site has each red log. A deployment without other partitions than `main`
   * sends only the field `red`.
   */
  #createEnds(): Pick<HelloMessage, 'red' | 'logs'> {
    const { origins, streams } = this.#options;
    const [red, ...others] = origins.logs.map((log) => streams.getEnd(log));
    const logs = others.flatMap((end, index): LogPoint[] =>
      end === undefined ? [] : [[index + 1, toPlain(end)]],
    );
    return {
      ...(red !== undefined && { red: toPlain(red) }),
      ...(others.length > 0 && { logs }),
    };
  }

  /** What is here at the ends that the receiver has reported. */
  #createEarlierPoints({
    known,
    red,
    logs,
  }: HelloMessage): Pick<HelloMessage, 'ownBefore' | 'redBefore' | 'logsBefore'> {
    const { site, origins } = this.#options;
    return {
      ownBefore: this.#pointAt(site, known),
      ...(red !== undefined && { redBefore: this.#pointAt(RED, red) }),
      ...(logs !== undefined && {
        logsBefore: logs
          .filter(([partition]) => partition < origins.logs.length)
          .map(([partition, end]) => [
            partition,
            this.#pointAt(origins.logs[partition] as Origin, end),
          ]),
      }),
    };
  }

  #pointAt(origin: Origin, { length }: StreamPoint): StreamPoint {
    return toPlain({
      length,
      digest: this.#options.streams.getDigest(origin, length),
    });
  }

  get #others(): Origin[] {
    return this.#options.origins.getOthers(this.#options.site);
  }

  #isTooSoon(site: Origin, nowMs: number): boolean {
    const { resendAfterMs } = this.#options;
    if (nowMs - (this.#askedAtMs.get(site) ?? -Infinity) < resendAfterMs) return true;
    this.#askedAtMs.set(site, nowMs);
    return false;
  }
}

/** Leaves out undefined fields, as the encoded form does. */
function toPlain({ length, digest }: StreamPoint): StreamPoint {
  return digest === undefined ? { length } : { length, digest };
}

/** The ends of the sender's copies of the red logs. */
function getEnds({ red, logs = [] }: HelloMessage | KnownMessage): LogPoint[] {
  return red === undefined ? [...logs] : [[MAIN_PARTITION, red], ...logs];
}

/** Points of the sender's red logs at the lengths that were asked for. */
function getEarlierPoints({ redBefore, logsBefore = [] }: HelloMessage): LogPoint[] {
  return redBefore === undefined ? [...logsBefore] : [[MAIN_PARTITION, redBefore], ...logsBefore];
}
