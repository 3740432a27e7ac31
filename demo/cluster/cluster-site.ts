/** One site of the cluster: its process and its state. */
import { createWriteStream, type WriteStream } from 'node:fs';
import { createClient, type AnyClient } from 'correctables';
import { WebSocket } from 'ws';
import type { Site } from '../../engines/wan.ts';
import { ServeProcess } from '../shared/serve-process.ts';
import { connectToSites } from '../shared/site-connection.ts';
import { pause } from '../tickets/pause.ts';
import type { Guard } from './guard.ts';
import type { SiteState } from './status.ts';

/** A strong read, and the contract of its service. */
export interface Probe {
  readonly contract: Parameters<typeof connectToSites>[0];
  readonly operation: Parameters<AnyClient['invokeStrong']>[0];
}

export interface ClusterSiteOptions {
  readonly name: Site;
  /** The arguments after `correctables serve`. */
  readonly args: readonly string[];
  /** Its address for clients. */
  readonly url: string;
  /** The file for its log. */
  readonly logFile: string;
  /** Shows whether it has caught up. */
  readonly probe: Probe;
  readonly guard: Guard;
}

const READ_TIMEOUT_MS = 2_000;
const READ_AGAIN_MS = 100;

export class ClusterSite {
  readonly name: Site;
  readonly #options: ClusterSiteOptions;
  readonly #log: WriteStream;
  #state: SiteState = 'killed';
  #failure: string | undefined;
  #process: ServeProcess | undefined;
  /** Ends the check whether it has caught up; undefined once it has. */
  #catchingUp: AbortController | undefined;

  constructor(options: ClusterSiteOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = createWriteStream(options.logFile, { flags: 'a' });
    // Ignore errors of the log file: sites continue if the disk is full.
    this.#log.on('error', () => {});
  }

  get state(): SiteState {
    return this.#state;
  }

  /** How its process has ended; absent if this demo has killed it. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Whether it may lack operations that were ordered while it was stopped. */
  get isCatchingUp(): boolean {
    return this.#catchingUp !== undefined;
  }

  /** Starts its process unless there is one; resolves when it listens, and when it has failed. */
  async start(): Promise<void> {
    if (this.#state !== 'killed' && this.#state !== 'ended') return;
    const { args, guard } = this.#options;
    this.#state = 'starting';
    this.#failure = undefined;
    const child = new ServeProcess({
      args,
      detached: true,
      onLog: (line) => this.#log.write(`${line}\n`),
    });
    this.#process = child;
    const { pid } = child;
    if (pid !== undefined) guard.add(pid);
    void child.ended.then((how) => {
      if (pid !== undefined) guard.remove(pid);
      if (this.#process !== child || this.#state === 'killed') return;
      this.#state = 'ended';
      this.#failure = how;
      this.#stopCatchingUp();
    });
    await child.listening.catch(() => {});
    if (this.#process !== child || this.#state !== 'starting') return;
    this.#state = 'running';
    this.noteAway();
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    if (this.#process === undefined || this.#state === 'killed') return;
    this.#state = 'killed';
    this.#stopCatchingUp();
    await this.#process.kill();
  }

  /** SIGSTOP. */
  freeze(): void {
    if (this.#state !== 'running') return;
    this.#state = 'frozen';
    this.#stopCatchingUp();
    this.#process?.freeze();
  }

  /** SIGCONT. */
  unfreeze(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.#process?.unfreeze();
    this.noteAway();
  }

  /** Called when it runs again. It counts as catching up until it has answered a strong read. */
  noteAway(): void {
    if (this.#state !== 'running') return;
    this.#stopCatchingUp();
    const watch = new AbortController();
    this.#catchingUp = watch;
    void this.#waitForStrongRead(watch.signal).then(() => {
      if (this.#catchingUp === watch) this.#catchingUp = undefined;
    });
  }

  async close(): Promise<void> {
    this.#stopCatchingUp();
    const child = this.#process;
    this.#process = undefined;
    await child?.stop();
    this.#log.end();
  }

  #stopCatchingUp(): void {
    this.#catchingUp?.abort();
    this.#catchingUp = undefined;
  }

  /** A site answers a strong read only when it has all operations that were ordered before. */
  async #waitForStrongRead(signal: AbortSignal): Promise<void> {
    const { probe, url } = this.#options;
    const { binding } = connectToSites(probe.contract, { urls: [[this.name, url]], WebSocket });
    const client: AnyClient = createClient(binding, { timeoutMs: READ_TIMEOUT_MS });
    const hasAnswered = async (): Promise<boolean> =>
      client.invokeStrong(probe.operation).then(
        () => true,
        () => false,
      );
    while (!signal.aborted && !(await hasAnswered())) await pause(READ_AGAIN_MS, signal);
    await client.close();
  }
}
