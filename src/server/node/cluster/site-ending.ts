/**
 * Ends a site: saves the operations that other sites lack, marks the directory, and reports why the
 * site does not start again.
 */
import type { OnAlarm } from '../alarms/site-alarm.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { ClosedMeanwhile } from '../transfer/catch-up.ts';
import type { PeerRequests } from '../links/cluster-links.ts';
import type { DiskRoom } from './disk-room.ts';
import type { NodeDirectory } from './node-directory.ts';
import { STATUS } from './node-status.ts';
import { saveUnsent } from './unsent-operations.ts';

/**
 * How often to check whether the other sites have everything, and for how long at most, in
 * milliseconds.
 */
const DRAIN_CHECK_MS = 10;
const MAX_DRAIN_MS = 2000;

/** Resolves once the other sites have everything, or after `MAX_DRAIN_MS`. */
export async function waitWhileSending(isSending: () => boolean): Promise<void> {
  const untilMs = performance.now() + MAX_DRAIN_MS;
  while (isSending() && performance.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
}

export interface SiteEndingOptions {
  readonly site: string;
  readonly directory: NodeDirectory;
  readonly room: DiskRoom;
  /** Aborted once the node is closed: nothing is reported after that. */
  readonly signal: AbortSignal;
  readonly onAlarm: OnAlarm;
}

export class SiteEnding {
  readonly #options: SiteEndingOptions;
  /** Whether the site was closed. Then it has raised `site-retired`, and raises no other alarm. */
  #isRetired = false;
  #failedStart: string | undefined;

  constructor(options: SiteEndingOptions) {
    this.#options = options;
  }

  /** The reason if the site does not run, and its process must be restarted. */
  get failedStart(): string | undefined {
    return this.#failedStart;
  }

  noteStarted(): void {
    this.#failedStart = undefined;
  }

  /**
   * Marks the directory as closed: the next start on it is refused, unless it replaces the
   * directory.
   */
  markClosed(forked: string): void {
    const { directory, room } = this.#options;
    // The site has ended in any case. So do not wait until the disk has space for the mark.
    room.repeat(() => directory.saveIdentity({ forked })).catch(() => {});
  }

  /**
   * Saves the operations that no other site is known to have, and reports that the site was closed.
   */
  async retire({ message, unsent }: ClosedMeanwhile, links: PeerRequests): Promise<void> {
    const { site, directory, room, signal, onAlarm } = this.#options;
    this.#isRetired = true;
    this.markClosed(message);

    const saved = await room.repeat(() =>
      saveUnsent(unsent, {
        files: directory.files,
        origin: directory.identity.origin as Origin,
        peers: links.peers,
        request: (peer) => links.request(peer, STATUS, null),
        signal,
      }),
    );

    const text = `Site ${site} has stopped: ${message}.${saved}`;
    onAlarm({ kind: 'site-retired', site, message: text });
  }

  reportFailedStart(cause: Error): void {
    const { site, signal, onAlarm } = this.#options;
    if (signal.aborted || this.#isRetired) return;

    const message = `Site ${site} cannot start again: ${cause.message}. Start its process again.`;
    this.#failedStart = message;
    onAlarm({ kind: 'site-stopped', site, message, cause });
  }
}
