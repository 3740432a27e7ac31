/**
 * Adds a site on an empty directory to a running deployment. It is a new site, or a site that has
 * lost its data.
 */
import type { MemberChange } from '../../service/records/records.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { isNonEmptyString, isRecord } from '../../../correctable/validate.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { SiteDriver } from '../site-driver.ts';
import { createSiteFromShared } from '../../log/recovered-state.ts';
import { install, type SiteLocation } from '../transfer/install-site.ts';
import { parseAddress, type ClusterFile } from './cluster-file.ts';
import type { ClusterKeys } from './key-file.ts';
import type { DiskRoom } from './disk-room.ts';
import type { NodeDirectory } from './node-directory.ts';
import { requestOfOperator } from '../commands/operator-request.ts';
import { rejectJoinWithOtherLeader } from '../red-log/file-leaders.ts';
import {
  READ_RED,
  getLogs,
  parseRedGeneration,
  type RedGeneration,
} from '../red-log/red-generation.ts';
import type { MemberEvent } from '../../site/site-event.ts';
import type { ReceivedState, StateTransfers } from '../transfer/state-transfers.ts';

/** The receivers of a request for a change. */
export interface ChangeTargets {
  /** The request goes to the sites of the file, and one that answers is enough. */
  readonly file: ClusterFile;
  readonly keys: ClusterKeys;
  readonly signal: AbortSignal;
  /** Receives the reason why the change has not been made yet. */
  onProblem(message: string): void;
}

/** The kind of request by which a command or a site proposes a change of the members. */
export const CHANGE = 'change';
/** The timeout of the request. It is longer than a site waits for the outcome. */
export const CHANGE_TIMEOUT_MS = 40_000;
const RETRY_MS = 500;
const CHECK_MS = 10;
/**
 * How long a refused request is retried. Another change may be pending, which soon ends unless a
 * site is disconnected.
 */
const REFUSED_FOR_MS = 30_000;

/**
 * Requests the change and returns the ordinal of the site. Throws `UNAVAILABLE` if it is refused
 * for long, or if the site leads the red log. Throws `INVALID_ARGUMENT` if the site joins with
 * other leaders in its file.
 */
export async function requestChange(change: MemberChange, targets: ChangeTargets): Promise<number> {
  const { file, keys, signal, onProblem } = targets;
  let refusedSinceMs = Infinity;
  for (;;) {
    const { red, away } = await askOthers(change.name, targets);
    if (change.directory !== null) rejectJoinWithOtherLeader(red, file);
    const redLeaders = red === undefined ? [] : getLogs(red);
    // If the lost site leads a red log, the log has no leader, so no site can deliver the change.
    if (redLeaders.some(({ leader }) => leader === change.name))
      throw redLeaderError(change.name, file.path);
    const absent = [...away].map(([site, problem]) => `; ${site} cannot be reached (${problem})`);
    for (const [to, { cluster: address }] of file.sites) {
      if (to === change.name) continue;
      signal.throwIfAborted();
      if (away.has(to) && away.size < file.sites.size - 1) continue;
      if (!away.has(to)) onProblem(`${to} was asked, and has not answered yet${absent.join('')}`);
      try {
        const reply = await requestOfOperator(
          { address, to, keys },
          CHANGE,
          change,
          CHANGE_TIMEOUT_MS,
        );
        const { origin, problem, isUnknown } = parseReply(reply);
        if (problem === null) return origin as number;
        if (isUnknown) {
          onProblem(`${to}: ${problem}`);
          continue;
        }
        refusedSinceMs = Math.min(refusedSinceMs, performance.now());
        if (performance.now() - refusedSinceMs >= REFUSED_FOR_MS) {
          const message = `${change.name}: the members of the deployment were not changed: ${problem}.`;
          throw new CorrectableError('UNAVAILABLE', message, {
            retryable: false,
            field: 'site',
          });
        }
        onProblem(`${to}: ${problem}${absent.join('')}`);
      } catch (error) {
        if (error instanceof CorrectableError) throw error;
        const others = away.has(to) ? '' : absent.join('');
        onProblem(`${to}: ${(error as Error).message}${others}`);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

interface OtherSites {
  /**
   * The latest generation of the built-in red logs at the sites that have answered. `undefined`
   * with etcd, and while the logs are being restored.
   */
  readonly red: RedGeneration | undefined;
  /** The sites that have not answered, and why. */
  readonly away: ReadonlyMap<string, string>;
}

async function askOthers(name: string, { file, keys }: ChangeTargets): Promise<OtherSites> {
  const away = new Map<string, string>();
  const known: RedGeneration[] = [];
  const others = [...file.sites].filter(([to]) => to !== name);
  await Promise.all(
    others.map(async ([to, { cluster: address }]) => {
      try {
        known.push(
          parseRedGeneration(await requestOfOperator({ address, to, keys }, READ_RED, null)),
        );
      } catch (error) {
        away.set(to, (error as Error).message);
      }
    }),
  );
  if (file.redLog.engine !== 'built-in') return { red: undefined, away };

  const latest = Math.max(...known.map(({ generation }) => generation));
  const red = known.find(({ generation, leader }) => generation === latest && leader !== null);
  return { red, away };
}

/** @throws Error if the body is not a change */
export function parseChange(body: unknown): MemberChange {
  const { name, directory, address } = isRecord(body) ? body : {};
  const { url, cluster } = isRecord(address) ? address : {};
  const isChange = isNonEmptyString(name) && (directory === null || isNonEmptyString(directory));
  if (!isChange) throw new Error('a change names a site, and its directory or null');
  if (address === undefined) return { name, directory };
  if (!isNonEmptyString(url) || !isNonEmptyString(cluster))
    throw new Error('an address has a url and a cluster address');
  parseAddress('address.cluster', cluster);
  return { name, directory, address: { url, cluster } };
}

export async function waitWhileJoining(
  findWaiting: () => string | undefined,
  signal: AbortSignal,
  onProblem: (message: string) => void,
): Promise<void> {
  for (let waiting = findWaiting(); waiting !== undefined; waiting = findWaiting()) {
    signal.throwIfAborted();
    onProblem(waiting);
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}

/**
 * Returns what a new member waits for before it accepts writes; `undefined` once it accepts them.
 */
export function describeJoining(
  site: number | null,
  origins: Origins,
  driver: SiteDriver | undefined,
): string | undefined {
  if (site === null || !origins.isSite(site) || origins.get(site).state !== 'joining')
    return undefined;
  const missing = driver?.machine.progress.unconfirmed.filter((origin) => origin !== site) ?? [];
  const names = missing.map((origin) => origins.getName(origin)).join(', ');
  return `waiting for ${names || 'the red log'} to confirm that ${origins.getName(site)} joins`;
}

export interface BecomeMemberOptions extends ChangeTargets {
  readonly site: string;
  readonly address: NonNullable<MemberChange['address']>;
  readonly directory: NodeDirectory;
  readonly transfers: StateTransfers;
  readonly room: DiskRoom;
}

/**
 * Requests that the directory is added as a member, and receives the state of another site. Returns
 * the origin.
 */
export async function becomeMember(options: BecomeMemberOptions): Promise<Origin> {
  const { site, address, directory, transfers, room, file, signal } = options;
  const change = {
    name: site,
    directory: directory.identity.directory,
    address,
  };
  const origin = (await requestChange(change, options)) as Origin;

  const donors = [...file.sites.keys()].filter((name) => name !== site);
  const received = await transfers.receive(origin, () => donors, signal);
  await room.repeat(() => installShared(received, directory.location));
  await room.repeat(() => directory.adopt());
  return origin;
}

/** Creates the directory of a site that has no data of its own from the state of another site. */
function installShared({ shared, rows }: ReceivedState, location: SiteLocation): Promise<void> {
  return install({
    ...location,
    state: createSiteFromShared(shared),
    sharedRows: rows,
    nextSegment: 1,
    commit: 1,
  });
}

function parseReply(reply: unknown): {
  readonly origin: number | null;
  readonly problem: string | null;
  readonly isUnknown: boolean;
} {
  const { origin = null, problem = null, isUnknown = false } = isRecord(reply) ? reply : {};
  if (problem !== null)
    return {
      origin: null,
      problem: String(problem),
      isUnknown: isUnknown === true,
    };
  if (!Number.isSafeInteger(origin)) throw new Error('the reply to a change could not be read');
  return { origin: origin as number, problem, isUnknown: false };
}

function redLeaderError(name: string, path: string): CorrectableError {
  const command = `correctables cluster restore-red --cluster ${path} --without ${name}`;
  const message = `${name}: this site leads the red log, so it cannot be rebuilt. Nothing was changed. First run: ${command}`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'site',
  });
}

/** The outcome of a proposed change. */
export type ChangeOutcome = Extract<MemberEvent, { kind: 'changed' }>;

/** The reply to a request for a change: its outcome, or that the outcome is unknown. */
export interface ChangeReply {
  readonly origin?: Origin | undefined;
  readonly problem?: string | undefined;
  /** Whether the change may still be made. Then `problem` is why that is unknown. */
  readonly isUnknown?: boolean;
}

/** How long a proposed change may take. */
const OUTCOME_TIMEOUT_MS = 30_000;

/** The changes that a node has proposed and whose outcome is still unknown, by name. */
export class PendingChanges {
  readonly #waiting = new Map<string, (outcome: ChangeOutcome) => void>();
  readonly #findCause: () => string | undefined;

  /** @param findCause returns why the red log may not answer */
  constructor(findCause: () => string | undefined) {
    this.#findCause = findCause;
  }

  /** Resolves with the outcome of the change of this name, or with the fact that it is unknown. */
  wait(name: string): Promise<ChangeReply> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(name);
        const cause = this.#findCause();
        const problem = `the red log did not answer within ${OUTCOME_TIMEOUT_MS / 1000} s`;
        resolve({
          problem: cause === undefined ? problem : `${problem}, since it waits for ${cause}`,
          isUnknown: true,
        });
      }, OUTCOME_TIMEOUT_MS);
      this.#waiting.set(name, (outcome) => {
        clearTimeout(timer);
        this.#waiting.delete(name);
        resolve(outcome);
      });
    });
  }

  onChanged(outcome: ChangeOutcome): void {
    this.#waiting.get(outcome.id)?.(outcome);
  }
}
