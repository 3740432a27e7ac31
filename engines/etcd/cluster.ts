/** An etcd cluster on this machine: one process a server, one for all delays. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtGoProgram } from '../built-go-program.ts';
import { startDelays } from '../delays.ts';
import { LOOPBACK } from '../ports.ts';
import {
  isRunning,
  killDaemon,
  signalDaemon,
  startDaemon,
  stopDaemon,
  waitUntil,
  type Daemon,
} from '../process.ts';
import type { Site } from '../wan.ts';
import { isHealthy, post, type AskedServer, type ServerStatus } from './ask.ts';
import { makeCertificates, type TlsFiles } from './certificates.ts';
import { layOut, type Layout, type LayoutOptions, type MemberLayout } from './layout.ts';

/** A user of the cluster, who may do everything. */
export interface EtcdUser {
  readonly name: string;
  readonly password: string;
}

/** What a cluster is beside where it listens. */
export interface EtcdKind extends LayoutOptions {
  /** Whether clients need TLS, and a certificate of their own. */
  readonly tls?: boolean;
  /** The one that clients log in as; they need not unless given. */
  readonly user?: EtcdUser;
  /** The size of the database above which writes are refused; 2 GiB unless given. */
  readonly quotaBytes?: number;
}

export interface EtcdClusterOptions extends EtcdKind {
  /** Data and logs; emptied at the start. */
  readonly folder: string;
  readonly progress: (text: string) => void;
}

/** What is needed to find a running cluster again: plain data. */
export interface EtcdClusterState {
  readonly folder: string;
  readonly layout: Layout;
  readonly program: string;
  readonly tls: TlsFiles | undefined;
  readonly user: EtcdUser | undefined;
  readonly quotaBytes: number | undefined;
  readonly servers: Partial<Record<Site, Daemon>>;
  readonly proxy: Daemon | undefined;
}

interface MemberList {
  /** One that was added, and has not started yet, has no name. */
  readonly members: readonly { readonly ID: string; readonly name?: string }[];
}

/** What a server is now. */
export type Role = 'leader' | 'follower';

const SERVING_MS = 60_000;
/** About ten round trips of the papers' wide area. */
const TIMING = ['--heartbeat-interval', '100', '--election-timeout', '1000'];
/** The user and the role that etcd asks for, which may do everything. */
const ROOT = 'root';

export class EtcdCluster implements AsyncDisposable {
  readonly #state: { -readonly [K in keyof EtcdClusterState]: EtcdClusterState[K] };

  /** Takes over a cluster that was started by another process. */
  constructor(state: EtcdClusterState) {
    this.#state = { ...state, servers: { ...state.servers } };
  }

  /** Starts a cluster without data, and waits until all its servers serve. */
  static async start({ folder, progress, ...kind }: EtcdClusterOptions): Promise<EtcdCluster> {
    const program = await builtGoProgram(ETCD_PROGRAM, progress);
    const layout = await layOut(kind);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const tls = kind.tls === true ? await makeCertificates(folder) : undefined;
    const { user, quotaBytes } = kind;
    const state = { folder, layout, program, tls, user, quotaBytes, servers: {}, proxy: undefined };
    const cluster = new EtcdCluster(state);
    try {
      progress(
        `starting ${layout.members.length === 1 ? 'a server' : `${layout.members.length} servers`}`,
      );
      if (layout.routes.length > 0) cluster.#state.proxy = await startDelays(folder, layout.routes);
      for (const member of layout.members) cluster.#startServer(member);
      await Promise.all(cluster.sites.map((site) => cluster.untilServing(site)));
      if (user !== undefined) await cluster.#enableAuthentication(user);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get state(): EtcdClusterState {
    return this.#state;
  }

  get sites(): Site[] {
    return this.#state.layout.members.map(({ site }) => site);
  }

  /**
   * The address of the server at `at` for a client beside the site `from` (unless given, the same).
   */
  endpoint(at: Site, from: Site = at): string {
    const scheme = this.#state.tls === undefined ? 'http' : 'https';
    return `${scheme}://${LOOPBACK}:${this.#state.layout.clientPorts[from][at]}`;
  }

  /** All addresses for a client beside `from`: its own server first. */
  endpoints(from: Site = 'ireland'): string[] {
    const sites = [...this.sites].sort((a, b) => Number(b === from) - Number(a === from));
    return sites.map((site) => this.endpoint(site, from));
  }

  /** What a server reports about itself; undefined for one that does not answer. */
  async status(site: Site): Promise<ServerStatus | undefined> {
    try {
      return await this.request<ServerStatus>(site, 'maintenance/status', {});
    } catch {
      return undefined;
    }
  }

  /** What each server is now; undefined for one that does not answer, or knows no leader. */
  async roles(): Promise<Partial<Record<Site, Role | undefined>>> {
    const roles = this.sites.map(async (site) => {
      const { header, leader = '0' } = (await this.status(site)) ?? {};
      if (header === undefined || leader === '0') return [site, undefined] as const;
      return [site, leader === header.member_id ? 'leader' : 'follower'] as const;
    });
    return Object.fromEntries(await Promise.all(roles));
  }

  /** The site of the present leader. */
  async leader(): Promise<Site | undefined> {
    const roles = await this.roles();
    return this.sites.find((site) => roles[site] === 'leader');
  }

  isRunning(site: Site): boolean {
    const server = this.#state.servers[site];
    return server !== undefined && isRunning(server);
  }

  /** Sends a signal to a server: `SIGSTOP` freezes it, `SIGCONT` lets it go on. */
  signal(site: Site, signal: NodeJS.Signals): void {
    const server = this.#state.servers[site];
    if (server !== undefined) signalDaemon(server, signal);
  }

  /** Kills a server with -9, and waits until it is gone. */
  async kill(site: Site): Promise<void> {
    const server = this.#state.servers[site];
    if (server !== undefined) await killDaemon(server);
  }

  /** Starts a server that was killed, on the data that it has. */
  async launch(site: Site): Promise<void> {
    const server = this.#state.servers[site];
    if (server !== undefined) await stopDaemon(server);
    this.#startServer(this.#member(site));
  }

  /** Starts a server that was killed, on the data that it has, and waits until it serves. */
  async restart(site: Site): Promise<void> {
    await this.launch(site);
    await this.untilServing(site);
  }

  /**
   * Puts a server with an empty disk in the place of one that lost its data. A majority of the
   * others has to serve.
   */
  async replace(site: Site): Promise<void> {
    const other = this.sites.find((name) => name !== site) as Site;
    await this.kill(site);
    const { members } = await this.request<MemberList>(other, 'cluster/member/list', {});
    const old = members.find(({ name }) => name === site);
    if (old !== undefined) await this.request(other, 'cluster/member/remove', { ID: old.ID });
    const peerURLs = [getPeerUrl(this.#member(site))];
    if (!members.some(({ name = '' }) => name === ''))
      await this.request(other, 'cluster/member/add', { peerURLs });
    rmSync(this.dataFolder(site), { recursive: true, force: true });
    this.#startServer(this.#member(site), 'existing');
    await this.untilServing(site);
  }

  /** Where a server has its data. */
  dataFolder(site: Site): string {
    return join(this.#state.folder, site);
  }

  /** Resolves when the server serves, together with a majority. */
  async untilServing(site: Site): Promise<void> {
    const serves = async (): Promise<boolean> => {
      if (!this.isRunning(site)) {
        const lastLine = readFileSync(this.#logFile(site), 'utf8').trimEnd().split('\n').at(-1);
        throw new Error(
          `the etcd server of ${site} ended; see ${this.#logFile(site)}: ${lastLine}`,
        );
      }
      return await isHealthy(this.#asked(site));
    };
    if (await waitUntil(serves, SERVING_MS)) return;
    throw new Error(`the etcd server of ${site} does not serve; see ${this.#logFile(site)}`);
  }

  /**
   * Sends a request over HTTP with JSON to a server, as `request('ireland',
   * 'maintenance/defragment', {})`.
   */
  async request<T>(site: Site, path: string, body: object): Promise<T> {
    const { user } = this.#state;
    const server = this.#asked(site);
    if (user === undefined) return await post<T>(server, path, body);
    const { token } = await post<{ readonly token: string }>(server, 'auth/authenticate', user);
    return await post<T>({ ...server, token }, path, body);
  }

  /**
   * Gives space that was freed back to the file of each server, and lifts the alarm of a full
   * quota.
   */
  async freeSpace(): Promise<void> {
    for (const site of this.sites) await this.request(site, 'maintenance/defragment', {});
    const [site] = this.sites as [Site];
    const { alarms = [] } = await this.request<{ readonly alarms?: object[] }>(
      site,
      'maintenance/alarm',
      {},
    );
    for (const alarm of alarms)
      await this.request(site, 'maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
  }

  async stop(): Promise<void> {
    const { servers, proxy } = this.#state;
    const daemons = [...Object.values(servers), ...(proxy === undefined ? [] : [proxy])];
    await Promise.all(daemons.map(stopDaemon));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** From then on clients have to log in. */
  async #enableAuthentication({ name, password }: EtcdUser): Promise<void> {
    const server = this.#asked(this.sites[0] as Site);
    const users = new Set([ROOT, name]);
    await post(server, 'auth/role/add', { name: ROOT });
    for (const user of users) {
      await post(server, 'auth/user/add', { name: user, password });
      await post(server, 'auth/user/grant', { user, role: ROOT });
    }
    await post(server, 'auth/enable', {});
  }

  #startServer(member: MemberLayout, clusterState: 'new' | 'existing' = 'new'): void {
    const { folder, layout, program, quotaBytes, tls } = this.#state;
    const { site, clientPort, peerPort } = member;
    const data = this.dataFolder(site);
    const scheme = tls === undefined ? 'http' : 'https';
    const all = layout.members.map((item) => `${item.site}=${getPeerUrl(item)}`).join(',');
    const options: Readonly<Record<string, string>> = {
      name: site,
      'data-dir': data,
      'listen-client-urls': `${scheme}://${LOOPBACK}:${clientPort}`,
      'advertise-client-urls': `${scheme}://${LOOPBACK}:${clientPort}`,
      'listen-peer-urls': `http://${LOOPBACK}:${peerPort}`,
      'initial-advertise-peer-urls': getPeerUrl(member),
      'initial-cluster': all,
      'initial-cluster-state': clusterState,
      'log-level': 'warn',
      ...(quotaBytes !== undefined && { 'quota-backend-bytes': String(quotaBytes) }),
      ...(tls !== undefined && {
        'trusted-ca-file': tls.ca,
        'cert-file': tls.certificate,
        'key-file': tls.key,
      }),
    };
    this.#state.servers[site] = startDaemon({
      command: program,
      args: [
        ...TIMING,
        ...(tls === undefined ? [] : ['--client-cert-auth']),
        ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]),
      ],
      mark: data,
      logFile: this.#logFile(site),
      cwd: folder,
    });
  }

  #asked(site: Site): AskedServer {
    return { port: this.#member(site).clientPort, tls: this.#state.tls };
  }

  #member(site: Site): MemberLayout {
    const member = this.#state.layout.members.find((item) => item.site === site);
    if (member === undefined) throw new RangeError(`the cluster has no server at ${site}`);
    return member;
  }

  #logFile(site: Site): string {
    return join(this.#state.folder, `${site}.log`);
  }
}

/** Where the other servers reach one. */
function getPeerUrl({ announcedPeerPort }: MemberLayout): string {
  return `http://${LOOPBACK}:${announcedPeerPort}`;
}

const ETCD_PROGRAM = { name: 'etcd', folder: fileURLToPath(new URL('.', import.meta.url)) };
