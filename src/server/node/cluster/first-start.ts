/**
 * Asks all other sites before the first start: a site that has lost its directory must not start
 * with an empty one.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import type { Origins } from '../../service/records/origin.ts';
import type { SiteDriver } from '../site-driver.ts';
import type { PeerRequests } from '../links/cluster-links.ts';

/** The kind of request by which a node asks whether its site is known. */
export const IDENTIFY = 'identify';

export interface IdentifyReply {
  /** Whether anything of that site was ever received, at any start. */
  readonly isKnown: boolean;
  /**
   * The sites with which the deployment was created; `null` if this site has not started either.
   */
  readonly founders: readonly string[] | null;
  /** The hash of the service with which the deployment was, or would be, created. */
  readonly service?: string;
}

/** The facts by which a node answers whether it knows the site of another node. */
export interface IdentifyingNode {
  readonly name: string;
  /** `undefined` while its site does not run. */
  readonly driver: SiteDriver | undefined;
  readonly hasData: boolean;
  readonly origins: Origins;
  /** The hash of the service with which the deployment was, or would be, created. */
  readonly service: string;
}

/** Answers another site that asks whether this one knows it. Throws while this site is starting. */
export function identifySite(
  site: string,
  { name, driver, hasData, origins, service }: IdentifyingNode,
): IdentifyReply {
  // A node with data knows other sites only once its site runs. A node without data knows none.
  if (driver === undefined && hasData) throw new Error(`${name} is starting`);
  if (driver === undefined) return { isKnown: false, founders: null, service };

  const origin = origins.find(site);
  return {
    isKnown: origin !== undefined && driver.hasHeardOf(origin),
    founders: origins.founders,
    service,
  };
}

export interface FirstStartOptions {
  readonly site: string;
  readonly dataDir: string;
  /** The sites of the file, with which the deployment is created. */
  readonly founders: readonly string[];
  /** The hash of the service with which the deployment is created. */
  readonly service: string;
  readonly links: PeerRequests;
  /** Called with the sites that have not answered yet, whenever these change. */
  onWaiting(sites: readonly string[]): void;
  readonly signal: AbortSignal;
  readonly retryMs?: number;
}

const RETRY_MS = 250;

export function formatWaiting(sites: readonly string[]): string {
  return `waiting for the sites ${sites.join(', ')} before the first start`;
}

/**
 * Resolves once every other site has answered that it does not know this one. Rejects with
 * `UNAVAILABLE` if one knows it, or if the deployments differ.
 */
export async function waitUntilUnknown(options: FirstStartOptions): Promise<void> {
  const { site, links, onWaiting, signal, retryMs = RETRY_MS } = options;
  let reported: string | undefined;
  const waiting = new Set(links.peers);
  while (waiting.size > 0) {
    signal.throwIfAborted();
    await Promise.all(
      [...waiting].map(async (peer) => (await ask(options, peer, site)) && waiting.delete(peer)),
    );
    if (waiting.size === 0) return;
    const names = [...waiting];
    if (reported !== names.join()) onWaiting(names);
    reported = names.join();
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function ask(
  { links, dataDir, founders, service }: FirstStartOptions,
  peer: string,
  site: string,
): Promise<boolean> {
  let reply: unknown;
  try {
    reply = await links.request(peer, IDENTIFY, { site });
  } catch {
    return false;
  }
  if (!isRecord(reply) || typeof reply['isKnown'] !== 'boolean') return false;
  if (reply['isKnown']) {
    const advice = `Start ${site} with its own data directory. If that is lost, start it with --rebuild`;
    throw refusedStartError(
      `${dataDir} is empty, but ${peer} knows the site ${site} already`,
      `${advice}: then what only ${site} had is lost`,
    );
  }
  if (typeof reply['service'] === 'string' && reply['service'] !== service) {
    throw refusedStartError(
      `${peer} has another version of the service`,
      'Start all sites of a new deployment with the same version, and upgrade them afterwards',
    );
  }
  const others = reply['founders'];
  if (others === null || String(others) === founders.join()) return true;
  throw refusedStartError(
    `the deployment was created with the sites ${String(others).replaceAll(',', ', ')}, not with ${founders.join(', ')}`,
    `Start ${site} with --join, so that it begins with the state of another site`,
  );
}

function refusedStartError(problem: string, advice: string): CorrectableError {
  const message = `dataDir: ${problem}. No data was changed. ${advice}.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'dataDir',
  });
}
