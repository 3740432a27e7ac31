/**
 * Starts and stops the site of a node. Its links stay open meanwhile, so a start may come from a
 * peer, an operator or the red log: starts must not overlap, and what an earlier one left open is
 * closed first.
 */
import type { DiskRoom } from './disk-room.ts';
import { OneAtATime } from './one-at-a-time.ts';
import type { DeploymentStorage } from '../storage/directory/open-storage.ts';
import type { DurableStorage } from '../storage/durable-storage.ts';
import type { RunningSite } from '../running-site.ts';

/** Which resources of the site are open. */
type SitePhase =
  | { readonly name: 'stopped' }
  | { readonly name: 'opening'; readonly opening: Promise<DeploymentStorage> }
  /** The storage is open, and the site is created from it. */
  | { readonly name: 'loading'; readonly storage: DeploymentStorage }
  | {
      readonly name: 'running';
      readonly storage: DeploymentStorage;
      readonly site: RunningSite;
    };

const STOPPED: SitePhase = { name: 'stopped' };

export interface SiteLifecycleContext {
  readonly room: DiskRoom;
  /** Aborted once the node is closed: no site starts after that. */
  readonly signal: AbortSignal;
  openStorage(): Promise<DeploymentStorage>;
  /**
   * Creates the site from its storage.
   *
   * @param isConfirmed whether another site accepted an earlier start, or none had to
   */
  createSite(storage: DurableStorage, isConfirmed: boolean): RunningSite;
  /** Starts the driver and connects the site to all that the node keeps open. */
  connect(site: RunningSite, storage: DurableStorage): void;
  disconnect(): void;
  /** The site runs. Clients may come. */
  onStarted(): Promise<void>;
  /** The site is about to stop and will start again. Clients should move. */
  onStopping(): Promise<void>;
  /** Asks the peers which red log they follow. */
  askPeers(): void;
}

export class SiteLifecycle {
  readonly #context: SiteLifecycleContext;
  readonly #restarts = new OneAtATime();
  /** Calls of `onStarted` and `onStopping`. */
  readonly #reports = new OneAtATime();
  #phase: SitePhase = STOPPED;
  #isConfirmed = false;

  constructor(context: SiteLifecycleContext) {
    this.#context = context;
  }

  /** The site, while it runs. */
  get site(): RunningSite | undefined {
    return this.#phase.name === 'running' ? this.#phase.site : undefined;
  }

  get isRestarting(): boolean {
    return this.#restarts.isBusy;
  }

  /** Resolves once no storage is being opened. The site runs then, unless that failed. */
  async waitForOpening(): Promise<void> {
    while (this.#phase.name === 'opening') await this.#phase.opening.catch(() => {});
  }

  /** Starts the site, once there is room on the disk for that. */
  start(): Promise<void> {
    return this.#context.room.repeat(async () => {
      try {
        await this.#start();
      } catch (error) {
        // The storage may be open, and the driver may have started.
        await this.stop();
        throw error;
      }
    });
  }

  /** Stops the site, changes what it has, and starts it again. */
  async restart(change: () => Promise<void>): Promise<void> {
    await this.#restarts.run(async () => {
      await this.reportStopping();
      await this.stop();
      await change();
      await this.start();
    });
    this.#context.askPeers();
  }

  /** Resolves once the restarts that were asked for are over. */
  async waitForRestarts(): Promise<void> {
    await this.#restarts.run(async () => {});
  }

  /** Lets clients move to other sites before the site is stopped. */
  async reportStopping(): Promise<void> {
    await this.#reports.run(async () => {
      if (!this.#context.signal.aborted) await this.#context.onStopping();
    });
  }

  /** Resolves once `onStarted` and `onStopping` have returned. */
  async waitForReports(): Promise<void> {
    await this.#reports.run(async () => {});
  }

  async stop(): Promise<void> {
    this.#context.disconnect();
    const phase = this.#phase;
    if (phase.name === 'running') {
      this.#isConfirmed = phase.site.driver.machine.isConfirmed;
      phase.site.driver.close();
    }
    this.#phase = STOPPED;
    if (phase.name === 'stopped') return;
    const storage = phase.name === 'opening' ? await phase.opening.catch(() => {}) : phase.storage;
    await storage?.close();
  }

  async #start(): Promise<void> {
    this.#context.signal.throwIfAborted();
    const opening = this.#context.openStorage();
    const phase = { name: 'opening', opening } as const;
    this.#phase = phase;
    const storage = await opening;
    // Another call has stopped the site meanwhile, and closes the storage.
    if (this.#phase !== phase) return;
    this.#phase = { name: 'loading', storage };

    const [siteStorage] = storage.sites as readonly [DurableStorage];
    const site = this.#context.createSite(siteStorage, this.#isConfirmed);
    this.#phase = { name: 'running', storage, site };

    storage.adopt();
    this.#context.connect(site, siteStorage);

    // Another call may have stopped the site meanwhile. Then that call starts it again.
    await this.#reports.run(async () => {
      if (this.site === site && !this.#context.signal.aborted) await this.#context.onStarted();
    });
    this.#context.askPeers();
  }
}
