/**
 * One site of a cluster in this process. The node owns its directory and its links to the other
 * sites. The site between them starts and stops.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { createTransferAlarms } from '../alarms/site-alarm.ts';
import { becomeMember, describeJoining, waitWhileJoining } from './become-member.ts';
import { catchUp } from '../transfer/catch-up.ts';
import { install } from '../transfer/install-site.ts';
import { ClusterLinks } from '../links/cluster-links.ts';
import { describeSetup, type DeploymentSetup } from './deployment-setup.ts';
import { forEachLinkAddress, formatAddress, listClientAddresses } from './cluster-file.ts';
import type { ClusterFile, ClusterSite } from './cluster-file.ts';
import { formatWaiting, waitUntilUnknown } from './first-start.ts';
import {
  describeRedLogs,
  describeState,
  listOrigins,
  type NodeEvents,
  type NodeState,
  type NodeStatus,
} from './node-status.ts';
import { RedFollower, type FollowedLog } from '../red-log/red-follower.ts';
import { releaseRoom, reserveRoom } from '../red-log/reserved-room.ts';
import { rejectOtherLeaders } from '../red-log/file-leaders.ts';
import type { RedGeneration } from '../red-log/red-generation.ts';
import type { NodeDirectory } from './node-directory.ts';
import { closedDirectoryError } from './node-file.ts';
import { waitWhileSending } from './site-ending.ts';
import {
  receiveEnvelopes,
  sendEnvelope,
  type SiteMessagesContext,
} from '../links/site-messages.ts';
import { StateTransfers, findRefusal, formatProgress } from '../transfer/state-transfers.ts';
import type { ResolvedNodeOptions } from './cluster-options.ts';
import { createClusterSite, loadOrigins } from './cluster-site.ts';
import type { RunningSite } from '../running-site.ts';
import { NodeRequests, type RequestedNode } from './node-requests.ts';
import { NodeResources } from './node-resources.ts';
import { SiteLifecycle } from './site-lifecycle.ts';
import { RULES_VERSION, type DeploymentVersion } from '../../service/records/deployment-version.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { MemberEvent } from '../../site/site-event.ts';
import { describeService } from '../../service/describe-service.ts';
import type { Service } from '../../service/service.ts';
import type { DurableStorage } from '../storage/durable-storage.ts';

/** Callbacks of a node. */
export type ClusterNodeEvents = NodeEvents<ClusterNode>;

export class ClusterNode {
  readonly name: string;
  readonly file: ClusterFile;
  readonly #service: Service;
  readonly #options: ResolvedNodeOptions;
  readonly #events: ClusterNodeEvents;
  readonly #ownVersion: DeploymentVersion;
  readonly #resources: NodeResources;
  /** The sites that are known here. The red log adds to them. */
  #origins: Origins;
  readonly #lifecycle: SiteLifecycle;
  readonly #follower: RedFollower;
  readonly #requests: NodeRequests;
  #links: ClusterLinks | undefined;
  #transfers: StateTransfers | undefined;
  /** What the site was last waiting for before it ran. */
  #waitingFor: string | undefined;

  /** @throws CorrectableError as `openClusterNode` */
  constructor(service: Service, options: ResolvedNodeOptions, events: ClusterNodeEvents) {
    this.name = options.site;
    this.#service = service;
    this.#options = options;
    this.#events = events;
    this.#resources = new NodeResources(service, options, (problem) =>
      this.#events.onProgress?.(problem),
    );
    this.file = this.#resources.file;
    const { partitions } = this.#resources;
    this.#ownVersion = {
      rules: RULES_VERSION,
      service: describeService(service, partitions.count > 1),
    };
    this.#origins = this.#loadOrigins(undefined);
    this.#lifecycle = this.#createLifecycle();
    this.#follower = this.#createFollower();
    this.#requests = new NodeRequests(this.#createRequestedNode());
  }

  /** The generation of the red log that the node follows. */
  get red(): RedGeneration {
    return this.#follower.red;
  }

  get origins(): Origins {
    return this.#origins;
  }

  get site(): RunningSite {
    const site = this.#site;
    if (site === undefined)
      throw new CorrectableError('UNAVAILABLE', `The site ${this.name} is not running.`);
    return site;
  }

  get #site(): RunningSite | undefined {
    return this.#lifecycle.site;
  }

  get #directory(): NodeDirectory {
    return this.#resources.directory;
  }

  get #signal(): AbortSignal {
    return this.#resources.signal;
  }

  get links(): ClusterLinks {
    return this.#links as ClusterLinks;
  }

  /** Opens the links, waits for the other sites if this is the first start, and starts the site. */
  async open(): Promise<void> {
    await this.#resources.redLog.load();
    const links = (this.#links = await this.#openLinks());
    const transfers = (this.#transfers = this.#createTransfers(links));
    await this.#events.onOpening?.(this);
    await this.#prepareStart(links, transfers);
    await this.#resources.room.repeat(() => this.#follower.begin());
    // If the site is behind, it restarts at once: wait until it runs again.
    await this.#lifecycle.waitForRestarts();
    await waitWhileJoining(
      () => this.#joiningProblem,
      this.#signal,
      (message) => this.#onProgress(message),
    );
  }

  get #ownEntry(): ClusterSite {
    return this.file.sites.get(this.name) as ClusterSite;
  }

  #openLinks(): Promise<ClusterLinks> {
    const peers = [...this.file.sites].filter(([name]) => name !== this.name);
    return ClusterLinks.open({
      site: this.name,
      listen: this.#ownEntry.cluster,
      peers: new Map(peers.map(([name, { cluster }]) => [name, cluster])),
      keys: this.#resources.keys,
      onAlarm: this.#resources.onAlarm,
      onWaiting: (message) => this.#events.onProgress?.(message),
      onEnvelopes: (from, contents) => receiveEnvelopes(from, contents, this.#messagesContext),
      onSlice: (from, content) => this.#transfers?.onSlice(from, content),
      onRequest: (request) => this.#requests.answer(request),
      onConnected: (name) => this.#setConnected(name, true),
      onDisconnected: (name) => this.#setConnected(name, false),
      isServing: () => this.state.state === 'serving',
      getRedLeader: () => this.#resources.redLog.getLeader(this.red),
      isJoining: () => this.#directory.identity.origin === null,
      getSetup: () => this.#setup,
    });
  }

  #createTransfers(links: ClusterLinks): StateTransfers {
    return new StateTransfers({
      site: this.name,
      directory: this.#directory.identity.directory,
      files: this.#directory.files,
      maxClockSkewMs: this.#options.maxClockSkewMs,
      links,
      admit: (site, receiver) =>
        findRefusal(
          this.#site && this.#origins,
          (origin) => this.#site?.driver.machine.redLogs.areAllWith(origin) === true,
          { ...receiver, donor: this.name, site },
        ),
      onProgress: (progress) => this.#onProgress(formatProgress(progress)),
      ...createTransferAlarms(this.name, this.#resources.onAlarm),
    });
  }

  /**
   * A node with an empty directory takes the state of a member, or waits until no other site knows
   * it. A node with data compares it with the file.
   */
  async #prepareStart(links: ClusterLinks, transfers: StateTransfers): Promise<void> {
    if (this.#directory.identity.origin === null) return this.#becomeMember(transfers);
    if (this.#directory.hasData)
      return rejectOtherLeaders({
        file: this.file,
        dataDir: this.#options.dataDir,
        red: this.red,
        links,
        signal: this.#signal,
        onWaiting: (message) => this.#onProgress(message),
      });

    return waitUntilUnknown({
      site: this.name,
      dataDir: this.#options.dataDir,
      founders: this.#directory.founders,
      service: this.#ownVersion.service.hash,
      links,
      onWaiting: (sites) => {
        this.#waitingFor = formatWaiting(sites);
        this.#events.onWaiting?.(sites);
      },
      signal: this.#signal,
    });
  }

  get #setup(): DeploymentSetup {
    return describeSetup(
      this.file,
      this.#directory,
      this.red,
      this.#site !== undefined && this.#origins,
    );
  }

  #onProgress(message: string): void {
    this.#waitingFor = message;
    this.#events.onProgress?.(message);
  }

  get #joiningProblem(): string | undefined {
    return describeJoining(this.#directory.identity.origin, this.#origins, this.#site?.driver);
  }

  #createFollower(): RedFollower {
    const { redCopies } = this.#resources;
    const isRunning = (): boolean => this.#site !== undefined;
    const isTransferring = (): boolean =>
      this.#lifecycle.isRestarting || this.#directory.identity.origin === null;
    return new RedFollower(
      this.#directory.red,
      {
        get isRunning() {
          return isRunning();
        },
        get isTransferring() {
          return isTransferring();
        },
        save: (value) => this.#directory.saveIdentity({ red: value }),
        start: () => this.#lifecycle.start(),
        waitForOpening: () => this.#lifecycle.waitForOpening(),
        onFailed: (error) => this.#resources.ending.reportFailedStart(error),
        stop: async () => {
          await this.#lifecycle.reportStopping();
          await this.#lifecycle.stop();
        },
        reserveRoom: () => reserveRoom(this.#directory.files),
        releaseRoom: () => releaseRoom(this.#directory.files),
        onSealed: (problem, isLasting) => {
          if (!isLasting) return this.#events.onProgress?.(problem);
          const site = this.name;
          const message = `Site ${site}: ${problem}.`;
          this.#resources.onAlarm({ kind: 'red-log-sealed', site, message });
        },
        countEntries: () => redCopies.countEntries(),
        findLogsWithoutVote: () => this.#site?.driver.machine.redLogs.withoutVote ?? [],
        findNamed: (partition) => redCopies.findNamed(partition),
        catchUp: (message, to, onCopied) => this.#catchUp(message, { to, onCopied }),
        getConnectedPeers: () => this.links.peers.filter((peer) => this.links.isConnected(peer)),
        request: (peer, kind, body) => this.links.request(peer, kind, body),
      },
      this.#signal,
    );
  }

  /** Becomes a member, and installs the state of another site. */
  async #becomeMember(transfers: StateTransfers): Promise<void> {
    const { url, cluster } = this.#ownEntry;
    const origin = await becomeMember({
      site: this.name,
      address: { url, cluster: formatAddress(cluster) },
      file: this.file,
      keys: this.#resources.keys,
      directory: this.#directory,
      transfers,
      room: this.#resources.room,
      signal: this.#signal,
      onProblem: (message) => this.#onProgress(`waiting to become a member: ${message}`),
    });
    await this.#resources.room.repeat(() => this.#follower.adopt());
    await this.#resources.room.repeat(() => this.#directory.saveIdentity({ origin }));
  }

  /**
   * Takes the state of another site. If the red logs were restored without this site, it keeps its
   * own state where that is enough, and drops of its copies what the logs do not have.
   */
  async #catchUp(
    message: string,
    restored?: { readonly to: FollowedLog; onCopied(): void },
  ): Promise<void> {
    const signal = this.#signal;
    const { redCopies, room } = this.#resources;
    await this.restartSite(async () => {
      const kept = restored && (await redCopies.findKept(restored.to));
      if (kept !== undefined && (await room.repeat(() => redCopies.dropEnds(kept))))
        return room.repeat(() => restored?.onCopied());

      this.#resources.onAlarm({
        kind: 'site-behind',
        site: this.name,
        message: `Site ${this.name}: ${message}.`,
      });
      const transfers = this.#transfers as StateTransfers;
      const origin = this.#directory.identity.origin as Origin;
      const closed = await catchUp({
        origin,
        kept,
        signal,
        getPeers: () => this.links.peers,
        receive: (donors, ...ending) => transfers.receive(origin, () => donors, ...ending),
        recover: () => this.#directory.recover(),
        install: (merged) => install({ ...this.#directory.location, ...merged }),
        onProblem: (problem) => this.#onProgress(problem),
        ...createTransferAlarms(this.name, this.#resources.onAlarm),
      });
      if (closed === undefined) return room.repeat(() => restored?.onCopied());
      await this.#resources.ending.retire(closed, this.links);
      throw closedDirectoryError(this.name, closed.message);
    });
  }

  /** Stops the site, changes what it has, and starts it again. The links stay open. */
  restartSite(change: () => Promise<void>): Promise<void> {
    return this.#lifecycle.restart(change);
  }

  #createLifecycle(): SiteLifecycle {
    return new SiteLifecycle({
      room: this.#resources.room,
      signal: this.#signal,
      openStorage: () => this.#directory.openSites(),
      createSite: (storage, isConfirmed) => this.#createSite(storage, isConfirmed),
      connect: (site, storage) => this.#connectSite(site, storage),
      disconnect: () => {
        this.#transfers?.stopServing();
        this.#resources.redLog.disconnect();
      },
      onStarted: async () => this.#events.onStarted?.(this),
      onStopping: async () => this.#events.onStopping?.(this),
      askPeers: () => this.#follower.askAll(),
    });
  }

  #loadOrigins(checkpoint: Parameters<typeof loadOrigins>[0]): Origins {
    const { partitions } = this.#resources;
    return loadOrigins(checkpoint, this.#directory.founders, partitions);
  }

  #createSite(storage: DurableStorage, isConfirmed: boolean): RunningSite {
    this.#origins = this.#loadOrigins(storage.stored.checkpoint);
    return createClusterSite({
      service: this.#service,
      options: this.#options,
      resources: this.#resources,
      origins: this.#origins,
      red: this.red,
      version: { own: this.#ownVersion, founding: this.#foundingVersion },
      isConfirmed,
      storage,
      onMembership: (output) => this.#onMembership(output),
      onEnded: () => this.#events.onFailed?.(),
      send: (envelope) => sendEnvelope(envelope, this.#messagesContext),
    });
  }

  #connectSite({ driver }: RunningSite, storage: DurableStorage): void {
    this.#waitingFor = undefined;
    this.#resources.ending.noteStarted();
    this.#updateLinks();
    driver.start();
    for (const name of this.links.peers) this.#noteConnected(name, this.links.isConnected(name));
    this.#resources.redLog.connect((reply, partition) => driver.onReply(reply, partition));
    this.#transfers?.serve({ storage, onDamaged: (error) => driver.onDamaged(error) });
  }

  get state(): NodeState {
    const waiting = this.#resources.room.problem ?? this.#waitingFor;
    return describeState({
      driver: this.#site?.driver,
      transfer: this.#transfers?.progress,
      waitingFor: this.#site === undefined ? waiting : this.#joiningProblem,
      refusal: this.#links?.refusal,
      cannotStart: this.#resources.ending.failedStart,
      sealed: this.#follower.sealedProblem,
    });
  }

  get status(): NodeStatus {
    const driver = this.#site?.driver;
    return {
      site: this.name,
      ...this.state,
      members: driver?.machine.members ?? listOrigins(this.#origins),
      redLeader: this.#resources.redLog.getLeader(this.red),
      redGeneration: this.red.generation,
      redProblem: driver?.redProblem,
      redLogs: describeRedLogs(this.red, this.#resources.partitions.names, driver?.redProblems),
      redLog: this.#resources.redLog.status,
      version: this.#requests.version,
      directory: this.#directory.identity.directory,
      transfer: this.#transfers?.progress,
      progress: driver?.machine.progress,
      memory: driver?.machine.memory.status,
      links: this.#links?.status ?? [],
      alarms: this.#resources.alarms.list(),
    };
  }

  /**
   * Waits up to 2 s until the other sites have what this one has. Then stops the site and closes
   * everything.
   */
  async close(): Promise<void> {
    this.#resources.abort();
    const isNeeded = (): boolean =>
      this.#site?.driver.machine.isBusy === true &&
      this.#links?.status.some((link) => link.isConnected) === true;
    await waitWhileSending(isNeeded);
    await this.#lifecycle.stop();
    await this.#lifecycle.waitForReports();
    this.#transfers?.close();
    await this.#links?.close();
    await this.#directory.close();
  }

  #noteConnected(name: string, isConnected: boolean): void {
    const origin = this.origins.find(name);
    if (origin !== undefined) this.#site?.driver.setConnected(origin, isConnected);
  }

  #setConnected(name: string, isConnected: boolean): void {
    this.#noteConnected(name, isConnected);
    if (!isConnected) return;
    this.#transfers?.onConnected(name);
    this.#follower.onConnected(name);
  }

  /**
   * The addresses for clients, by site: of the sites in the file, and of those that have joined.
   */
  get addresses(): ReadonlyMap<string, string> {
    const names = this.#site === undefined ? [...this.file.sites.keys()] : this.origins.names;
    return listClientAddresses(names, this.file, this.origins);
  }

  /**
   * Links go to every site that ever was a member: a retired site that still runs must learn that
   * it was retired.
   */
  #updateLinks(): void {
    forEachLinkAddress(this.file, this.origins, (name, address, isMember) => {
      if (name !== this.name) this.links.setPeer(name, address, isMember);
    });
  }

  #onMembership(output: MemberEvent): void {
    if (output.kind === 'members') return this.#updateLinks();
    if (output.kind === 'behind') {
      // Not while the site acts. If the site is being stopped, it finds out again after the next
      // start.
      const catchUp = async (): Promise<void> =>
        this.#follower.isSealing ? undefined : this.#catchUp(output.message);
      setImmediate(
        () =>
          void catchUp().catch((error: Error) => this.#resources.ending.reportFailedStart(error)),
      );
    } else if (output.kind === 'changed') this.#requests.onChanged(output);
    else if (output.kind === 'retired')
      this.#resources.ending
        .retire(output, this.links)
        .catch((error: Error) => this.#resources.ending.reportFailedStart(error));
  }

  /** The version in force when the deployment was created. A checkpoint may have a newer one. */
  get #foundingVersion(): DeploymentVersion {
    return this.#directory.getFoundingVersion(this.#ownVersion);
  }

  #createRequestedNode(): RequestedNode {
    return {
      name: this.name,
      directory: this.#directory,
      ownVersion: this.#ownVersion,
      getFoundingVersion: () => this.#foundingVersion,
      getOrigins: () => this.#origins,
      getLinks: () => this.links,
      getStatus: () => this.status,
      getDriver: () => this.#site?.driver,
      requireDriver: () => this.site.driver,
      deployment: this,
      answerTransfer: (from, body) => this.#transfers?.onRequest(from, body),
      answerRedLog: (kind, body) => this.#follower.answer(kind, body),
    };
  }

  get #messagesContext(): SiteMessagesContext {
    const { links, origins } = this;
    return {
      codec: this.#resources.codec,
      deployment: this.#resources.deploymentName,
      origins,
      driver: this.#site?.driver,
      links,
    };
  }
}
