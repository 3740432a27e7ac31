/**
 * One site of a cluster in this process: its directory, its links to the other
 * sites, and its state machine.
 */
import { CorrectableError } from '../correctable/errors.ts';
import { createTransferAlarms, type OnAlarm } from './alarms/site-alarm.ts';
import {
  answerVersion,
  getNodeVersion,
  type VersionHost,
} from './cluster/activate.ts';
import {
  CHANGE,
  becomeMember,
  describeJoining,
  install,
  parseChange,
  waitWhileJoining,
  PendingChanges,
  type ChangeReply,
} from './cluster/become-member.ts';
import { catchUp } from './cluster/catch-up.ts';
import { ClusterLinks, type ControlRequest } from './cluster/cluster-links.ts';
import {
  describeSetup,
  type DeploymentSetup,
} from './cluster/deployment-setup.ts';
import { DiskRoom } from './cluster/disk-room.ts';
import {
  forEachLinkAddress,
  formatAddress,
  getFirstLeader,
  listClientAddresses,
  readClusterFile,
} from './cluster/cluster-file.ts';
import type { ClusterFile, ClusterSite } from './cluster/cluster-file.ts';
import {
  IDENTIFY,
  formatWaiting,
  identifySite,
  waitUntilUnknown,
} from './cluster/first-start.ts';
import { followKeyFile, type ClusterKeys } from './cluster/key-file.ts';
import { NodeRedLog } from './cluster/red-log/node-red-log.ts';
import {
  RecentAlarms,
  STATUS,
  describeState,
  type NodeEvents,
  type NodeStatus,
} from './cluster/node-status.ts';
import { OneAtATime } from './cluster/one-at-a-time.ts';
import { saveDroppedRecords } from './cluster/red-log/dropped-records.ts';
import {
  RedFollower,
  type FollowedLog,
} from './cluster/red-log/red-follower.ts';
import { releaseRoom, reserveRoom } from './cluster/red-log/reserved-room.ts';
import type { RedGeneration } from './cluster/red-log/red-generation.ts';
import { NodeDirectory } from './cluster/node-directory.ts';
import { closedDirectoryError } from './cluster/node-file.ts';
import { SiteEnding, waitWhileSending } from './cluster/site-ending.ts';
import {
  receiveEnvelopes,
  sendEnvelope,
  type SiteMessagesHost,
} from './cluster/site-messages.ts';
import {
  StateTransfers,
  TRANSFER,
  findRefusal,
  formatProgress,
} from './cluster/state-transfers.ts';
import {
  checkSiteOptions,
  type ClusterNodeOptions,
} from './cluster-options.ts';
import { loadOrigins, makeClusterSite } from './cluster-site.ts';
import { DEFAULT_CLOCK_SKEW_MS, type EmbeddedSite } from './embedded-site.ts';
import { EnvelopeCodec } from './messages/envelope-codec.ts';
import {
  RULES_VERSION,
  type DeploymentVersion,
} from './records/deployment-version.ts';
import { Origins, type Origin } from './records/origin.ts';
import type { MemberOutput } from './records/replica-output.ts';
import type { MemberChange } from './replica/membership.ts';
import { describeService } from './service/describe-service.ts';
import type { Service } from './service/service.ts';
import { hashDeploymentName } from './site/deployment-name.ts';
import { rejectForeignOrigin } from './storage/directory/node-identity.ts';
import type { DeploymentStorage } from './storage/directory/open-storage.ts';
import type { DurableStorage } from './storage/durable-storage.ts';

/** What a node calls. */
export type ClusterNodeEvents = NodeEvents<ClusterNode>;

/** A node. Its links stay open while its site is stopped and started again. */
export class ClusterNode {
  readonly name: string;
  readonly file: ClusterFile;
  readonly #service: Service;
  readonly #options: ClusterNodeOptions;
  readonly #keys: ClusterKeys;
  readonly #own: DeploymentVersion;
  readonly #versionHost: VersionHost;
  readonly #onAlarm: OnAlarm;
  readonly #redLog: NodeRedLog;
  readonly #codec: EnvelopeCodec;
  readonly #aborted = new AbortController();
  readonly #alarms = new RecentAlarms();
  readonly #room: DiskRoom;
  readonly #directory: NodeDirectory;
  readonly #events: ClusterNodeEvents;
  /** The table of the site that runs: it changes with the red log. */
  #origins: Origins;
  readonly #changes = new PendingChanges(() => this.#site?.driver.redProblem);
  readonly #follower: RedFollower;
  #links: ClusterLinks | undefined;
  #transfers: StateTransfers | undefined;
  /** What the site has last waited for before it ran. */
  #waitingFor: string | undefined;
  readonly #restarts = new OneAtATime();
  /** Calls of `onStarted` and `onStopping`. */
  readonly #reports = new OneAtATime();
  #storage: DeploymentStorage | undefined;
  #site: EmbeddedSite | undefined;
  /** Whether the start before was confirmed by another site, or needed none. */
  #isConfirmed = false;
  readonly #ending: SiteEnding;
  /** How messages of this deployment are recognized. */
  readonly #deploymentName: string;

  /** @throws CorrectableError as `openClusterNode` */
  constructor(
    service: Service,
    options: ClusterNodeOptions,
    events: ClusterNodeEvents,
  ) {
    this.#service = service;
    this.#own = { rules: RULES_VERSION, service: describeService(service) };
    this.#options = options;
    this.#events = events;
    this.name = options.site;
    this.#versionHost = this.#createVersionHost();
    this.file = readClusterFile(options.cluster);
    checkSiteOptions(service, options, this.file);
    this.#keys = followKeyFile(this.file.keyFile, (problem) =>
      this.#events.onProgress?.(problem),
    );
    this.#redLog = new NodeRedLog(this.file.redLog, this.#keys.deployment);
    this.#codec = new EnvelopeCodec(this.#redLog.messages);
    this.#onAlarm = this.#alarms.noteBefore(options.onAlarm);
    this.#deploymentName = hashDeploymentName(
      this.#keys.sessionKey,
      service.contract.name,
    );
    const shared = {
      site: this.name,
      onAlarm: this.#onAlarm,
      signal: this.#aborted.signal,
    };
    this.#room = new DiskRoom(shared);
    this.#directory = new NodeDirectory({
      dataDir: options.dataDir,
      deploymentName: this.#keys.deployment,
      deployment: {
        service,
        sites: [...this.file.sites.keys()],
        redLeader: getFirstLeader(this.file),
        site: this.name,
        hasOwnKey: true,
        onAlarm: this.#onAlarm,
      },
      rebuilds: options.rebuild === true,
      room: this.#room,
    });
    this.#ending = new SiteEnding({
      ...shared,
      directory: this.#directory,
      room: this.#room,
    });
    this.#origins = Origins.create(this.#directory.founders);
    this.#follower = this.#createFollower();
  }

  /** The generation of the red log that the node follows. */
  get red(): RedGeneration {
    return this.#follower.red;
  }

  get origins(): Origins {
    return this.#origins;
  }

  get site(): EmbeddedSite {
    if (this.#site === undefined)
      throw new CorrectableError(
        'UNAVAILABLE',
        `The site ${this.name} is not running.`,
      );
    return this.#site;
  }

  get links(): ClusterLinks {
    return this.#links as ClusterLinks;
  }

  /**
   * Opens the links, waits for the other sites if this is the first start, and
   * starts the site.
   */
  async open(): Promise<void> {
    await this.#redLog.load();
    const own = this.file.sites.get(this.name) as ClusterSite;
    const peers = [...this.file.sites].filter(([name]) => name !== this.name);
    const links = (this.#links = await ClusterLinks.open({
      site: this.name,
      listen: own.cluster,
      peers: new Map(peers.map(([name, { cluster }]) => [name, cluster])),
      keys: this.#keys,
      onAlarm: this.#onAlarm,
      onWaiting: (message) => this.#events.onProgress?.(message),
      onEnvelopes: (from, contents) =>
        receiveEnvelopes(from, contents, this.#messagesHost),
      onSlice: (from, content) => this.#transfers?.onSlice(from, content),
      onRequest: (request) => this.#answer(request),
      onConnected: (name) => this.#setConnected(name, true),
      onDisconnected: (name) => this.#setConnected(name, false),
      isServing: () => this.state.state === 'serving',
      getRedLeader: () => this.#redLog.getLeader(this.red),
      isJoining: () => this.#directory.identity.origin === null,
      getSetup: () => this.#setup,
    }));
    this.#transfers = new StateTransfers({
      site: this.name,
      directory: this.#directory.identity.directory,
      files: this.#directory.files,
      maxClockSkewMs: this.#options.maxClockSkewMs ?? DEFAULT_CLOCK_SKEW_MS,
      links,
      admit: (site, receiver) =>
        findRefusal(this.#site && this.#origins, {
          ...receiver,
          donor: this.name,
          site,
        }),
      onProgress: (progress) => this.#onProgress(formatProgress(progress)),
      ...createTransferAlarms(this.name, this.#onAlarm),
    });
    await this.#events.onOpening?.(this);
    if (this.#directory.identity.origin === null)
      await this.#becomeMember(this.#transfers, own);
    else if (!this.#directory.hasData) {
      await waitUntilUnknown({
        site: this.name,
        dataDir: this.#options.dataDir,
        founders: this.#directory.founders,
        service: this.#own.service.hash,
        links,
        onWaiting: (sites) => {
          this.#waitingFor = formatWaiting(sites);
          this.#events.onWaiting?.(sites);
        },
        signal: this.#aborted.signal,
      });
    }
    await this.#room.repeat(() => this.#follower.begin());
    // If the site is behind, it has begun to restart at once: wait until it
    // serves.
    await this.#restarts.run(async () => {});
    const onProblem = (message: string): void => this.#onProgress(message);
    await waitWhileJoining(
      () => this.#joiningProblem,
      this.#aborted.signal,
      onProblem,
    );
  }

  get #setup(): DeploymentSetup {
    const isRunning = this.#site !== undefined;
    return describeSetup(
      this.file,
      this.#directory,
      this.red,
      isRunning && this.#origins,
    );
  }

  #onProgress(message: string): void {
    this.#waitingFor = message;
    this.#events.onProgress?.(message);
  }

  get #joiningProblem(): string | undefined {
    return describeJoining(
      this.#directory.identity.origin,
      this.#origins,
      this.#site?.driver,
    );
  }

  #createFollower(): RedFollower {
    const isRunning = (): boolean => this.#site !== undefined;
    const isTransferring = (): boolean =>
      this.#restarts.isBusy || this.#directory.identity.origin === null;
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
        start: () => this.#startWithRoom(),
        onFailed: (error) => this.#ending.reportFailedStart(error),
        stop: async () => {
          await this.#reportStopping();
          await this.stopSite();
        },
        reserveRoom: () => reserveRoom(this.#directory.files),
        releaseRoom: () => releaseRoom(this.#directory.files),
        onSealed: (problem, isLasting) => {
          const message = `Site ${this.name}: ${problem}.`;
          if (isLasting)
            this.#onAlarm({ kind: 'red-log-sealed', site: this.name, message });
          else this.#events.onProgress?.(problem);
        },
        countEntries: () => this.#directory.recover().lengths.red,
        catchUp: (message, to, onCopied) =>
          this.#catchUp(message, { to, onCopied }),
        getConnectedPeers: () =>
          this.links.peers.filter((peer) => this.links.isConnected(peer)),
        request: (peer, kind, body) => this.links.request(peer, kind, body),
      },
      this.#aborted.signal,
    );
  }

  /**
   * Becomes a member, and takes the state of another site as that of this one.
   */
  async #becomeMember(
    transfers: StateTransfers,
    { url, cluster }: ClusterSite,
  ): Promise<void> {
    const origin = await becomeMember({
      site: this.name,
      address: { url, cluster: formatAddress(cluster) },
      file: this.file,
      keys: this.#keys,
      directory: this.#directory,
      transfers,
      room: this.#room,
      signal: this.#aborted.signal,
      onProblem: (message) =>
        this.#onProgress(`waiting to become a member: ${message}`),
    });
    await this.#room.repeat(() => this.#follower.adopt());
    await this.#room.repeat(() => this.#directory.saveIdentity({ origin }));
  }

  /**
   * Takes the state of another site. If the red log was restored without this
   * one, the own end of it does not count.
   */
  async #catchUp(
    message: string,
    restored?: { readonly to: FollowedLog; onCopied(): void },
  ): Promise<void> {
    const { signal } = this.#aborted;
    this.#onAlarm({
      kind: 'site-behind',
      site: this.name,
      message: `Site ${this.name}: ${message}.`,
    });
    await this.restartSite(async () => {
      const transfers = this.#transfers as StateTransfers;
      const origin = this.#directory.identity.origin as Origin;
      if (restored !== undefined)
        saveDroppedRecords(this.#directory.recover().stored, restored.to, {
          site: this.name,
          files: this.#directory.files,
          onAlarm: this.#onAlarm,
        });
      const closed = await catchUp({
        origin,
        keepsRed: restored === undefined,
        signal,
        getPeers: () => this.links.peers,
        receive: (donors, ...ending) =>
          transfers.receive(origin, () => donors, ...ending),
        recover: () => this.#directory.recover(),
        install: (merged) => install({ ...this.#directory.place, ...merged }),
        onProblem: (problem) => this.#onProgress(problem),
        ...createTransferAlarms(this.name, this.#onAlarm),
      });
      if (closed === undefined)
        return this.#room.repeat(() => restored?.onCopied());
      await this.#ending.retire(closed, this.links);
      throw closedDirectoryError(this.name, closed.message);
    });
  }

  /**
   * Stops the site, changes what it has, and starts it again. The links stay
   * open.
   */
  async restartSite(change: () => Promise<void>): Promise<void> {
    await this.#restarts.run(async () => {
      await this.#reportStopping();
      await this.stopSite();
      await change();
      await this.#startWithRoom();
    });
    this.#follower.askAll();
  }

  /** Starts the site, once there is room on the disk for that. */
  #startWithRoom(): Promise<void> {
    return this.#room.repeat(async () => {
      try {
        await this.startSite();
      } catch (error) {
        // A part of it may have begun.
        await this.stopSite();
        throw error;
      }
    });
  }

  /** Takes up what the directory has, and begins. */
  async startSite(): Promise<void> {
    this.#aborted.signal.throwIfAborted();
    const storage = (this.#storage = this.#directory.openSites());
    const [siteStorage] = storage.sites as readonly [DurableStorage];
    const { checkpoint } = siteStorage.stored;
    const origins = (this.#origins = loadOrigins(
      checkpoint,
      this.#directory.founders,
    ));
    const site = this.#directory.identity.origin as Origin;
    rejectForeignOrigin(this.#directory.identity, (origin) =>
      origins.isSite(origin) ? origins.get(origin).site : undefined,
    );
    if (!origins.isMember(site)) {
      const reason = `${this.name} was retired, or rebuilt on another data directory`;
      this.#ending.markClosed(reason);
      throw closedDirectoryError(this.name, reason);
    }
    const made = (this.#site = makeClusterSite({
      service: this.#service,
      options: this.#options,
      file: this.file,
      clusterKey: this.#keys.sessionKey,
      deploymentName: this.#deploymentName,
      origins,
      redLeader: this.red.leader,
      onAlarm: this.#onAlarm,
      site,
      resources: {
        storage: siteStorage,
        directory: this.#directory.identity.directory,
        ...this.#redLog.createParts(this.red),
        version: { own: this.#own, founding: this.#foundingVersion },
        // The process that was confirmed goes on: no directory was put in the
        // place of its own.
        needsPeer: !this.#isConfirmed,
        onMembership: (output) => this.#onMembership(output),
        onEnded: () => this.#events.onFailed?.(),
        onForked: (problem) =>
          this.#ending.markClosed(
            `another node has gone on as ${this.name} (${problem})`,
          ),
        send: (envelope) => sendEnvelope(envelope, this.#messagesHost),
      },
    }));
    storage.adopt();
    this.#waitingFor = undefined;
    this.#ending.noteStarted();
    this.#updateLinks();
    made.driver.start();
    for (const name of this.links.peers)
      this.#noteConnected(name, this.links.isConnected(name));
    this.#redLog.connect((reply) => made.driver.onReply(reply));
    this.#transfers?.setStorage(siteStorage);
    // Another call may have stopped the site meanwhile: then that call starts
    // it again.
    await this.#reports.run(async () => {
      if (this.#site === made && !this.#aborted.signal.aborted)
        await this.#events.onStarted?.(this);
    });
    this.#follower.askAll();
  }

  async #reportStopping(): Promise<void> {
    await this.#reports.run(async () => {
      if (!this.#aborted.signal.aborted) await this.#events.onStopping?.(this);
    });
  }

  /** Ends the site; the links and the directory stay open. */
  async stopSite(): Promise<void> {
    this.#transfers?.setStorage(undefined);
    this.#redLog.disconnect();
    if (this.#site !== undefined)
      this.#isConfirmed = this.#site.driver.isConfirmed;
    this.#site?.driver.close();
    this.#site = undefined;
    const storage = this.#storage;
    this.#storage = undefined;
    await storage?.close();
  }

  get state(): Pick<NodeStatus, 'state' | 'problem'> {
    const waiting = this.#room.problem ?? this.#waitingFor;
    return describeState({
      driver: this.#site?.driver,
      transfer: this.#transfers?.progress,
      waitingFor: this.#site === undefined ? waiting : this.#joiningProblem,
      cannotStart: this.#ending.failedStart,
      sealed: this.#follower.sealedProblem,
    });
  }

  get status(): NodeStatus {
    const driver = this.#site?.driver;
    return {
      site: this.name,
      ...this.state,
      members:
        driver?.members ??
        this.#origins.sites.map((origin) => ({
          ...this.#origins.get(origin),
          origin,
        })),
      redLeader: this.#redLog.getLeader(this.red),
      redGeneration: this.red.generation,
      redProblem: driver?.redProblem,
      redLog: this.#redLog.status,
      version: getNodeVersion(this.#versionHost),
      directory: this.#directory.identity.directory,
      transfer: this.#transfers?.progress,
      progress: driver?.progress,
      links: this.#links?.status ?? [],
      alarms: this.#alarms.list(),
    };
  }

  /**
   * Waits until the other sites have what this one has, or a little while; then
   * ends everything.
   */
  async close(): Promise<void> {
    this.#aborted.abort();
    const isNeeded = (): boolean =>
      this.#site?.driver.isBusy === true &&
      this.#links?.status.some((link) => link.isConnected) === true;
    await waitWhileSending(isNeeded);
    await this.stopSite();
    await this.#reports.run(async () => {});
    this.#transfers?.close();
    await this.#links?.close();
    await this.#directory.close();
  }

  #noteConnected(name: string, isConnected: boolean): void {
    const origin = this.origins.find(name);
    if (origin !== undefined)
      this.#site?.driver.setConnected(origin, isConnected);
  }

  #setConnected(name: string, isConnected: boolean): void {
    this.#noteConnected(name, isConnected);
    if (!isConnected) return;
    this.#transfers?.onConnected(name);
    this.#follower.onConnected(name);
  }

  /**
   * The sites with their addresses for clients: those of the file, and those
   * that have joined.
   */
  get addresses(): ReadonlyMap<string, string> {
    const names =
      this.#site === undefined
        ? [...this.file.sites.keys()]
        : this.origins.names;
    return listClientAddresses(names, this.file, this.origins);
  }

  /**
   * Links go to all sites that there have been: one that was retired and is
   * still there has to hear of it.
   */
  #updateLinks(): void {
    forEachLinkAddress(this.file, this.origins, (name, address, isMember) => {
      if (name !== this.name) this.links.setPeer(name, address, isMember);
    });
  }

  #onMembership(output: MemberOutput): void {
    if (output.kind === 'members') return this.#updateLinks();
    if (output.kind === 'behind') {
      // Not while the site acts. A site that is being stopped finds it again
      // once it is started.
      const catchUp = async (): Promise<void> =>
        this.#follower.isSealing ? undefined : this.#catchUp(output.message);
      setImmediate(
        () =>
          void catchUp().catch((error: Error) =>
            this.#ending.reportFailedStart(error),
          ),
      );
    } else if (output.kind === 'changed') this.#changes.onChanged(output);
    else if (output.kind === 'retired')
      this.#ending
        .retire(output, this.links)
        .catch((error: Error) => this.#ending.reportFailedStart(error));
  }

  /** Proposes a change of the members, and resolves with what became of it. */
  proposeChange(change: MemberChange): Promise<ChangeReply> {
    return this.#changes.wait(this.site.driver.proposeChange(change));
  }

  /**
   * What was in force when the deployment was created, as far as no checkpoint
   * says more.
   */
  get #foundingVersion(): DeploymentVersion {
    return this.#directory.getFoundingVersion(this.#own);
  }

  #createVersionHost(): VersionHost {
    return {
      site: this.name,
      own: this.#own,
      getInForce: () => this.#site?.driver.inForce ?? this.#foundingVersion,
      getOthers: () =>
        this.origins
          .getOthers(this.site.driver.site)
          .map((origin) => this.origins.getName(origin)),
      request: (peer, kind, body) => this.links.request(peer, kind, body),
      propose: () => this.#changes.wait(this.site.driver.proposeActivation()),
    };
  }

  get #messagesHost(): SiteMessagesHost {
    const { links, origins } = this;
    return {
      codec: this.#codec,
      deployment: this.#deploymentName,
      origins,
      driver: this.#site?.driver,
      links,
    };
  }

  #answer({ from, kind, body }: ControlRequest): unknown {
    if (kind === IDENTIFY && from !== null)
      return identifySite(from, {
        name: this.name,
        driver: this.#site?.driver,
        hasData: this.#directory.hasData,
        origins: this.#origins,
        service: this.#foundingVersion.service.hash,
      });
    if (kind === TRANSFER && from !== null)
      return this.#transfers?.onRequest(from, body);
    if (kind === STATUS) return this.status;
    if (kind === CHANGE) return this.proposeChange(parseChange(body));
    const reply =
      answerVersion(kind, this.#versionHost) ??
      this.#follower.answer(kind, body);
    if (reply !== undefined) return reply;
    throw new Error(`unknown request ${kind}`);
  }
}
