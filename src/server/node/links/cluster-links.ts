/**
 * All links of a node. It dials every other site, listens for them, and reports to operators which
 * links are down.
 */
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { CorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { listenOnAddress } from '../../../protocol/listen-on-address.ts';
import { shortenText, type OnAlarm, type SiteAlarm } from '../alarms/site-alarm.ts';
import type { LinkLimits } from './link.ts';
import { createLinkAlarm } from '../alarms/replica-alarms.ts';
import { formatAddress, type ClusterAddress } from '../cluster/cluster-file.ts';
import { findSetupProblem, type DeploymentSetup } from '../cluster/deployment-setup.ts';
import type { ClusterKeys } from '../cluster/key-file.ts';
import { FRAME } from './frames.ts';
import { LinkConnection, createTraffic, type LinkTraffic } from './link-connection.ts';
import { createSecureServer, RefusedError, type StrangerKind } from './link-security.ts';
import {
  OutgoingLink,
  LINK_VERSIONS,
  agreeOnVersion,
  describeMismatch,
  parseVersions,
} from './outgoing-link.ts';

/** A request of another site, or of an operator's command. */
export interface ControlRequest {
  /** The site that sends the request; `null` for a command. */
  readonly from: string | null;
  readonly kind: string;
  readonly body: unknown;
}

export interface ClusterLinksOptions {
  readonly site: string;
  readonly listen: ClusterAddress;
  readonly peers: ReadonlyMap<string, ClusterAddress>;
  readonly keys: ClusterKeys;
  readonly onAlarm: OnAlarm;
  /** Receives the reason why this process cannot listen yet, if the problem may be temporary. */
  onWaiting?(message: string): void;
  /** Receives envelopes of a site, as bytes of `EnvelopeCodec`. */
  onEnvelopes(from: string, contents: readonly Uint8Array[]): void;
  /** Receives a slice of a state transfer. */
  onSlice?(from: string, content: Uint8Array): void;
  /** Returns the reply to a request, or a promise of it. An error becomes the reply's error. */
  onRequest(request: ControlRequest): unknown;
  onConnected?(site: string): void;
  onDisconnected?(site: string): void;
  /**
   * Whether this site is about to become a member. Other sites refuse it until then, without
   * alarms. Default: it is not
   */
  isJoining?(): boolean;
  /** Returns the setup that this site has for the deployment. Default: nothing is compared */
  getSetup?(): DeploymentSetup | undefined;
  /** Whether this site accepts operations. Default: it does */
  isServing?(): boolean;
  /** Returns the site that leads the red log, if a site does. Default: none */
  getRedLeader?(): string | null;
  readonly limits?: LinkLimits;
  readonly heartbeatIntervalMs?: number;
  /** How long a link may be down without an alarm. Default: 5000 */
  readonly downAlarmMs?: number;
}

/** The other sites, with a function that sends them requests. */
export interface PeerRequests {
  readonly peers: readonly string[];
  request(peer: string, kind: string, body: unknown): Promise<unknown>;
}

/** A link as an operator sees it. */
export interface LinkStatus extends Readonly<LinkTraffic> {
  readonly peer: string;
  readonly isConnected: boolean;
  readonly queuedMessages: number;
  readonly queuedBytes: number;
  readonly droppedMessages: number;
  readonly roundTripMs: number | undefined;
}

interface Peer {
  readonly link: OutgoingLink;
  readonly address: ClusterAddress;
  readonly isExpected: boolean;
  readonly traffic: LinkTraffic;
  downTimer: NodeJS.Timeout | undefined;
  isReportedDown: boolean;
  lastError: Error | undefined;
}

/** The advice if this process cannot listen, by the code of the system's error. */
const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program listens there. End it, or give a free port',
  EACCES: 'This user may not listen there. Give a port from 1024 on',
  EADDRNOTAVAIL: 'Give an address that this machine has',
  ENOTFOUND: 'Give an address of this machine, or a name that a name server knows',
  EAI_AGAIN: 'Give an address of this machine, or let it reach its name server',
};
const DOWN_ALARM_MS = 5000;
/** How many different problems of refused peers with the key are reported. */
const MAX_REPORTED_PROBLEMS = 100;

export class ClusterLinks {
  readonly #options: ClusterLinksOptions;
  readonly #peers = new Map<string, Peer>();
  /**
   * Accepted connections with the site that dialed: `null` for a command, `undefined` before the
   * first request.
   */
  readonly #incoming = new Map<LinkConnection, string | null | undefined>();
  /** All sockets that this server has accepted, before and after their handshake. */
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  /** The peers that refuse this site, by name, until they accept it. Each is reported once. */
  readonly #reported = new Set<string>();
  /** Reported problems of peers that have the key and are refused here. */
  readonly #reportedProblems = new Set<string>();
  /** Kinds of connections without the key that were reported. */
  readonly #reportedStrangers = new Set<StrangerKind>();
  #refusedConnections = 0;
  #isClosed = false;

  private constructor(options: ClusterLinksOptions) {
    this.#options = options;
    this.#server = createSecureServer({
      keys: options.keys,
      onConnection: (socket) => this.#accept(socket),
      onRefused: (kind, problem) => this.#reportStranger(kind, problem),
      onFailed: () => (this.#refusedConnections += 1),
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** @throws CorrectableError `INVALID_ARGUMENT` if this process cannot listen on the address */
  static async open(options: ClusterLinksOptions): Promise<ClusterLinks> {
    const links = new ClusterLinks(options);
    await links.#listen();
    for (const [name, address] of options.peers) links.setPeer(name, address);
    return links;
  }

  /**
   * Adds a peer, or changes its address. A peer that is not expected causes no alarm while it is
   * disconnected.
   */
  setPeer(name: string, address: ClusterAddress, isExpected = true): void {
    const known = this.#peers.get(name);
    if (known?.isExpected === isExpected && formatAddress(known.address) === formatAddress(address))
      return;
    this.removePeer(name);
    if (this.#isClosed) return;
    const { site, keys, limits, heartbeatIntervalMs, onAlarm, onConnected } = this.#options;
    const traffic = createTraffic();
    const link = new OutgoingLink({
      from: site,
      to: name,
      address,
      keys,
      traffic,
      limits,
      heartbeatIntervalMs,
      onEnvelopes: (contents) => this.#options.onEnvelopes(name, contents),
      onRequest: (kind, body) => this.#options.onRequest({ from: name, kind, body }),
      isJoining: () => this.#isJoining,
      getSetup: () => this.#options.getSetup?.(),
      onConnected: () => {
        this.#onUp(name);
        onConnected?.(name);
      },
      onDisconnected: (error) => {
        this.#onDown(name, formatAddress(address), error);
        this.#options.onDisconnected?.(name);
      },
      onRefused: (problem) => {
        const description = `the site ${name} at ${formatAddress(address)} refuses the link: ${problem}`;
        if (!this.#isJoining) this.#reportOnce(this.#reported, name, description, name);
      },
      onFull: createLinkAlarm(site, name, onAlarm),
    });
    this.#peers.set(name, {
      link,
      address,
      isExpected,
      traffic,
      downTimer: undefined,
      isReportedDown: false,
      lastError: undefined,
    });
    this.#onDown(name, formatAddress(address), undefined);
  }

  /** Closes the link to a site that is not a peer any more. */
  removePeer(name: string): void {
    const peer = this.#peers.get(name);
    this.#peers.delete(name);
    clearTimeout(peer?.downTimer);
    peer?.link.close();
  }

  get peers(): readonly string[] {
    return [...this.#peers.keys()];
  }

  /** Connections that were refused, since they had no TLS, or the wrong key, deployment or site. */
  get refusedConnections(): number {
    return this.#refusedConnections;
  }

  isConnected(peer: string): boolean {
    return this.#peers.get(peer)?.link.isConnected === true;
  }

  /** Returns the version of envelopes that a peer reads. */
  getVersion(peer: string): number {
    return this.#peers.get(peer)?.link.version ?? LINK_VERSIONS.version;
  }

  /** Sends an envelope. Does nothing if there is no such peer. */
  send(peer: string, content: Uint8Array): void {
    this.#peers.get(peer)?.link.send(content);
  }

  /**
   * Sends a message back on each connection that was dialed in the name of that site. If two nodes
   * run as one site, both must get the message, and only one of them listens.
   */
  sendBack(peer: string, content: Uint8Array): void {
    for (const [connection, from] of this.#incoming)
      if (from === peer) connection.write([{ type: FRAME.envelope, content }]);
  }

  /**
   * Sends a slice of a state transfer after everything else. Rejects if the link is lost before.
   */
  async sendSlice(peer: string, content: Uint8Array): Promise<void> {
    await this.#getLink(peer).sendSlice(content);
  }

  /**
   * Sends a request and resolves with the reply. Rejects if the link is down, or there is no reply
   * in time.
   */
  async request(peer: string, kind: string, body: unknown, timeoutMs?: number): Promise<unknown> {
    return this.#getLink(peer).request(kind, body, timeoutMs);
  }

  /**
   * Why this site is refused, if no other site accepts its connections. A site that cannot be
   * reached does not refuse it.
   */
  get refusal(): string | undefined {
    const peers = [...this.#peers].filter(([, { isExpected }]) => isExpected);
    if (peers.some(([, { link }]) => link.isConnected)) return undefined;
    const [name, peer] = peers.find(([, { lastError }]) => lastError instanceof RefusedError) ?? [];
    if (name === undefined) return undefined;
    return `no other site accepts its connections: ${name} refuses them, since ${peer?.lastError?.message}`;
  }

  get status(): readonly LinkStatus[] {
    return [...this.#peers].map(([peer, { link, traffic }]) => ({
      peer,
      isConnected: link.isConnected,
      ...traffic,
      queuedMessages: link.queuedMessages,
      queuedBytes: link.queuedBytes,
      droppedMessages: link.droppedMessages,
      roundTripMs: link.roundTripMs,
    }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const name of this.peers) this.removePeer(name);
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const connection of this.#incoming.keys()) connection.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  get #isJoining(): boolean {
    return this.#options.isJoining?.() === true;
  }

  #getLink(peer: string): OutgoingLink {
    const link = this.#peers.get(peer)?.link;
    if (link === undefined) throw new Error(`there is no link to ${peer}`);
    return link;
  }

  async #listen(): Promise<void> {
    const { site, listen } = this.#options;
    const field = `sites.${site}.cluster`;
    try {
      await listenOnAddress(this.#server, {
        ...listen,
        onWaiting: (message) => this.#options.onWaiting?.(`cluster.json: ${field}: ${message}`),
      });
    } catch (error) {
      const cause = error as NodeJS.ErrnoException;
      const problem = `where this process cannot listen: ${cause.message}`;
      const advice = LISTEN_ADVICE[cause.code ?? ''] ?? 'Give a free address of this machine';
      const message = `cluster.json: ${field} is ${formatAddress(listen)}, ${problem}. ${advice}.`;
      throw new CorrectableError('INVALID_ARGUMENT', message, {
        field: 'cluster',
        cause,
      });
    }
    // Ignore the error: if no file descriptors are free, the server continues, and accepts
    // connections again later.
    this.#server.on('error', () => {});
  }

  /** A connection is unknown until its first request names the site that dialed. */
  #accept(socket: TLSSocket): void {
    if (this.#isClosed) return void socket.destroy();
    const { onEnvelopes, onSlice, onRequest, heartbeatIntervalMs } = this.#options;
    let from: string | null | undefined;
    const connection: LinkConnection = new LinkConnection(socket, {
      onEnvelopes: (contents) => {
        if (typeof from === 'string') onEnvelopes(from, contents);
      },
      onSlice: (content) => {
        if (typeof from === 'string') onSlice?.(from, content);
      },
      onRequest: (kind, body) => {
        if (from !== undefined) return onRequest({ from, kind, body });
        if (kind !== 'connect') throw new Error('the first request must be connect');
        const problem = this.#findProblem(body);
        if (problem !== undefined) {
          this.#refusedConnections += 1;
          if (!isRecord(body) || body['isJoining'] !== true)
            this.#reportProblem(socket.remoteAddress, problem);
          return { refused: problem };
        }
        from = (body as { readonly from: string | null }).from;
        this.#incoming.set(connection, from);
        connection.isKnown = true;
        if (from !== null)
          connection.traffic = this.#peers.get(from)?.traffic ?? connection.traffic;
        return { site: this.#options.site, ...LINK_VERSIONS };
      },
      onClosed: () => this.#incoming.delete(connection),
    });
    this.#incoming.set(connection, from);
    connection.startHeartbeats(false, heartbeatIntervalMs);
  }

  /** Returns why a peer that has the key is not accepted. */
  #findProblem(body: unknown): string | undefined {
    const { site, keys, getSetup } = this.#options;
    const { deployment, from, to, setup } = isRecord(body) ? body : {};
    const versions = parseVersions(body);
    if (versions === undefined) return 'its first request has no version of links';
    if (agreeOnVersion(LINK_VERSIONS, versions) === undefined)
      return describeMismatch(
        site,
        LINK_VERSIONS,
        from === null ? 'the command' : shortenText(String(from)),
        versions,
      );
    if (deployment !== keys.deployment) return `it is of another deployment than ${site}`;
    if (to !== site)
      return `it has dialed ${shortenText(String(to))}, and this is ${site}: compare the cluster.json of both`;
    if (from === null) return undefined;
    if (typeof from === 'string' && this.#peers.has(from))
      return findSetupProblem({ site, setup: getSetup?.() }, { site: from, setup });
    const advice = 'compare the cluster.json of both, and start a site that is new with --join';
    return `it is the site ${shortenText(String(from))}, which ${site} does not know: ${advice}`;
  }

  /** Reports a refused peer that has the key. */
  #reportProblem(address: string | undefined, problem: string): void {
    if (this.#reportedProblems.size >= MAX_REPORTED_PROBLEMS) return;
    const origin = address === undefined ? '' : ` from ${address}`;
    const description = `a connection${origin} to its cluster address was refused: ${problem}`;
    this.#reportOnce(this.#reportedProblems, problem, description);
  }

  /**
   * Reports the first connection without the key, once for each kind of problem. Later ones are
   * only counted, because a connection without the key may claim anything.
   */
  #reportStranger(kind: StrangerKind, problem: string): void {
    const description = `a connection without the key to its cluster address was refused: ${problem}`;
    this.#reportOnce(this.#reportedStrangers, kind, description);
  }

  #reportOnce<K>(reported: Set<K>, key: K, description: string, peer?: string): void {
    if (reported.has(key)) return;
    reported.add(key);
    this.#report('link-refused', peer, `${description}. It is tried again, and reported once.`);
  }

  #report(kind: SiteAlarm['kind'], peer: string | undefined, description: string): void {
    const { site, onAlarm } = this.#options;
    onAlarm({
      kind,
      site,
      ...(peer !== undefined && { peer }),
      message: `Site ${site}: ${description}`,
    });
  }

  #onUp(name: string): void {
    const peer = this.#peers.get(name);
    if (peer === undefined) return;
    clearTimeout(peer.downTimer);
    peer.downTimer = undefined;
    this.#reported.delete(name);
    if (!peer.isReportedDown) return;
    peer.isReportedDown = false;
    this.#report('link-up', name, `the link to ${name} is up again.`);
  }

  #onDown(name: string, address: string, error: Error | undefined): void {
    const peer = this.#peers.get(name);
    if (peer === undefined) return;
    peer.lastError = error;
    if (peer.downTimer !== undefined || !peer.isExpected) return;
    const downMs = this.#options.downAlarmMs ?? DOWN_ALARM_MS;
    peer.downTimer = setTimeout(() => {
      peer.isReportedDown = true;
      const cause = peer.lastError === undefined ? '' : ` (${peer.lastError.message})`;
      const problem = `the link to ${name} at ${address} has been down for ${downMs} ms${cause}`;
      this.#report('link-down', name, `${problem}. ${this.#describeEffect(name)}.`);
    }, downMs);
    peer.downTimer.unref();
  }

  #describeEffect(name: string): string {
    const { isServing, getRedLeader } = this.#options;
    if (isServing?.() === false) return 'This site does not serve yet';
    if (getRedLeader?.() !== name)
      return 'Operations continue; what the other site needs is sent once the link is up';
    const advice = `If ${name} is lost for good, run cluster restore-red`;
    return `It leads the red log: red operations and strong reads wait for it, blue operations continue. ${advice}`;
  }
}
