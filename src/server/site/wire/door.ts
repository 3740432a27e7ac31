/**
 * The door of a site: all that stands between its parts and other sites. It seals what goes out. Of
 * what comes in it lets pass what the filter takes, what there is room for, and whose content is
 * known. Other messages change nothing, and their senders send them again.
 */
import type { RedLogEngine } from '../../log/red-log-engine.ts';
import { EffectValidator } from '../../service/effect-validator.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { StreamPoint } from '../../service/records/records.ts';
import type { KnownStarts } from '../parts/known-starts.ts';
import { getRedLogPlace, type SiteOptions } from '../site-options.ts';
import {
  MAIN_PARTITION,
  RejectedMessageError,
  type Envelope,
  type SiteMessage,
} from './envelope.ts';
import type { MessageFilter, MessageFilterOptions } from './message-filter.ts';
import { NodeHandshake, type KnownStreams } from './node-handshake.ts';
import { findContentRejection, needsRoom } from './validate-content.ts';

/** What the door needs of its site. */
export interface DoorSite {
  readonly nowMs: number;
  readonly starts: KnownStarts;
  /** The streams of operations. */
  readonly blue: KnownStreams;
  /** The copies of the red logs. One has no end after a halt, because it proves nothing then. */
  readonly redLogs: KnownStreams;
  /** The number of the rules in force, if sites may run different versions. */
  readonly rules: number | undefined;
  noteEpoch(site: Origin, epoch: number, directory?: string): void;
  send(envelope: Envelope): void;
  onPeerForked(peer: Origin, message: string): void;
  /** Another node of this site has gone on. */
  onForked(message: string): void;
  /** Rules are in force that are not known here. */
  onOutdated(problem: string): void;
}

/** A message that has passed the filter. */
export type OpenedMessage = NonNullable<ReturnType<MessageFilter['open']>>;

export class Door {
  readonly filter: MessageFilter;
  readonly handshake: NodeHandshake;
  /** The number of messages that were not taken for lack of room. */
  noRoomCount = 0;
  readonly #site: DoorSite;
  readonly #options: SiteOptions;
  readonly #engine: RedLogEngine;
  readonly #effectValidator: EffectValidator;

  constructor(
    site: DoorSite,
    options: SiteOptions,
    engine: RedLogEngine,
    parts: { readonly MessageFilter: typeof MessageFilter },
  ) {
    this.#site = site;
    this.#options = options;
    this.#engine = engine;
    this.#effectValidator = new EffectValidator(options.service.tables);
    this.filter = new parts.MessageFilter(this.#createFilterOptions());
    this.handshake = this.#createHandshake();
  }

  /** Puts a message into an envelope. Returns nothing if the other site was closed. */
  seal(to: Origin, message: SiteMessage, partition = MAIN_PARTITION): Envelope | undefined {
    return this.#options.origins.isMember(to)
      ? this.filter.seal(to, message, partition)
      : undefined;
  }

  /**
   * Returns a message if it may pass. Without room the door lets none pass that would have to be
   * stored.
   */
  open(envelope: Envelope, hasRoom: boolean): OpenedMessage | undefined {
    if (!hasRoom && needsRoom(envelope.message, this.#engine.messages)) {
      this.noRoomCount += 1;
      return undefined;
    }
    const { filter } = this;
    const { epoch } = filter;
    const message = filter.open(envelope);
    if (message !== undefined) return message;
    for (const response of filter.takeResponses()) this.#site.send(response);
    if (filter.epoch !== epoch) this.handshake.greetAll(this.#site.nowMs);
    return undefined;
  }

  /**
   * Whether the site takes a message that is not about nodes: the start of its sender goes on, and
   * all that it names is known here.
   */
  takes(from: Origin, epoch: number, message: SiteMessage): boolean {
    const { filter, handshake } = this;
    if (handshake.isForked(from, epoch)) {
      const problem = 'another node of its site has gone on';
      filter.reject(new RejectedMessageError('start', problem, from));
      handshake.ask(from, this.#site.nowMs, epoch);
      return false;
    }
    const rejection = findContentRejection(message, from, {
      known: this.#effectValidator,
      log: this.#engine.messages,
      origins: this.#options.origins,
    });
    if (rejection !== undefined) filter.reject(rejection);
    return rejection === undefined;
  }

  /** Notifies sites that are being retired. Nothing else is sent to them. */
  sendRetirementNotices(): void {
    for (const notice of this.filter.createRetirementNotices()) this.#site.send(notice);
  }

  #createFilterOptions(): MessageFilterOptions {
    const { site, origins, deployment, epoch, version } = this.#options;
    const { stopsOnUnknownStart, onMessageRejected } = this.#options;
    return {
      deployment,
      origins,
      ownSite: { site, partition: MAIN_PARTITION },
      partitionCount: origins.logs.length,
      epoch,
      onRejected: onMessageRejected,
      onUnknownStart: (peer, unknown) => this.handshake.ask(peer, this.#site.nowMs, unknown),
      onSuperseded: stopsOnUnknownStart === true ? this.#onSuperseded : undefined,
      newestRules: version?.own.rules,
      getRules: () => this.#site.rules,
      onNewerRules: (problem) => this.#site.onOutdated(problem),
    };
  }

  readonly #onSuperseded = (later: number, by: Origin): void => {
    const { epoch } = this.filter;
    const start = `the start ${later} of this site, which is later than this one, ${epoch}`;
    this.#site.onForked(`${this.#options.origins.getName(by)} knows ${start}`);
  };

  #createHandshake(): NodeHandshake {
    const { filter } = this;
    const outside = this.#site;
    const { site, origins, resendAfterMs, directory = '', generation = 0 } = this.#options;
    const streamsOf = (origin: Origin): KnownStreams =>
      origins.isLog(origin) ? outside.redLogs : outside.blue;
    return new NodeHandshake({
      site,
      origins,
      leaders: origins.logs.map((_, partition) => getRedLogPlace(this.#options, partition).leader),
      directory,
      generation,
      resendAfterMs,
      refusesUnknownStarts: this.#options.stopsOnUnknownStart === true,
      streams: {
        getEnd: (origin): StreamPoint | undefined => streamsOf(origin).getEnd(origin),
        getDigest: (origin, length) => streamsOf(origin).getDigest(origin, length),
      },
      getEpoch: () => filter.epoch,
      getAccepted: (peer) => filter.getAccepted(peer),
      getDirectory: (peer) => outside.starts.directories.get(peer),
      onAccepted: (peer, epoch, name) => {
        if (filter.accept(peer, epoch))
          outside.noteEpoch(peer, epoch, name === '' ? undefined : name);
      },
      send: (to, message) => outside.send(filter.seal(to, message)),
      onPeerForked: (peer, message) => outside.onPeerForked(peer, message),
      onForked: (message) => outside.onForked(message),
    });
  }
}
