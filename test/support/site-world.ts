/**
 * Three sites of one deployment with queues between them, for tests in which nodes crash, restart
 * with older logs, or run twice. `events` has the messages that a site refuses.
 */
import type { Envelope } from '../../src/server/site/wire/envelope.ts';
import type { Service } from '../../src/server/service/service.ts';
import type { Site } from '../../src/server/site/site.ts';
import type { LogCounts } from '../../src/server/log/log-positions.ts';
import { Sites, type Given, type StoredLogs } from '../unit/server/site/sites.ts';
import { notesService } from '../unit/server/node/storage/notes-service.ts';

/** A node of a site: its state machine and its logs. */
export interface WorldNode {
  readonly machine: Site | undefined;
  readonly logs: StoredLogs;
  readonly synced: LogCounts;
}

/** The options of a world. */
export interface WorldOptions extends Given {
  readonly service?: Service;
  readonly siteCount?: number;
}

export class SiteWorld extends Sites {
  /** Messages that were refused, as `reason: description`. */
  readonly events: string[];

  constructor({ service = notesService(), siteCount = 3, ...options }: WorldOptions = {}) {
    const events: string[] = [];
    super(service, siteCount, {
      onMessageRejected: ({ reason, message }) => void events.push(`${reason}: ${message}`),
      ...options,
    });
    this.events = events;
    this.settle();
  }

  /** Sets options for later starts. */
  set options(options: Omit<WorldOptions, 'service' | 'siteCount'>) {
    this.value = { ...this.value, ...options };
  }

  /** Removes the node of a site, so that another one can start in its place. */
  takeNode(site: number): WorldNode {
    const node = {
      machine: this.machines[site],
      logs: this.logs[site]!,
      synced: this.synced[site]!,
    };
    this.machines[site] = undefined;
    this.logs[site] = { local: [], red: [] };
    this.synced[site] = { local: 0, red: 0 };
    return node;
  }

  /**
   * Puts a node of a site back in its place, where it receives the messages to the site. Returns
   * the node that was there.
   */
  putNode(site: number, node: WorldNode): WorldNode {
    const before = this.takeNode(site);
    this.machines[site] = node.machine;
    this.logs[site] = node.logs;
    this.synced[site] = node.synced;
    return before;
  }

  /** Drops messages in flight: all, or those for which `isMeant` returns true. */
  drop(
    isMeant: (sent: {
      readonly from: number;
      readonly to: number;
      readonly envelope: Envelope;
    }) => boolean = () => true,
  ): void {
    this.sent = this.sent.filter((sent) => !isMeant(sent));
  }
}
