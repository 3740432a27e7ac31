/**
 * Activates a newer version: one node asks all others which version they run, and proposes its
 * version to the red log.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isRecord } from '../../../correctable/validate.ts';
import type { DeploymentVersion } from '../../service/records/deployment-version.ts';

const VERSION = 'version';
export const ACTIVATE = 'activate';
const RETRY_DELAY_MS = 100;

/** A version by its numbers. */
export interface VersionName {
  readonly rules: number;
  /** The hash of the service. */
  readonly service: string;
}

/** The version that a node runs, and the version that is active there. */
export interface NodeVersion extends VersionName {
  readonly inForce: VersionName;
}

function getName({ rules, service }: DeploymentVersion): VersionName {
  return { rules, service: service.hash };
}

interface ProposalOutcome {
  /** The reason if nothing was activated. */
  readonly problem?: string | undefined;
  /** Whether the version may still be activated. Then `problem` is why that is unknown. */
  readonly isUnknown?: boolean | undefined;
}

/** The outcome of a request to activate a version. */
export interface ActivateReply extends ProposalOutcome {
  readonly version?: VersionName;
  /** Whether another version was active before. */
  readonly isNew?: boolean;
}

export interface VersionContext {
  readonly site: string;
  readonly own: DeploymentVersion;
  getInForce(): DeploymentVersion;
  getOthers(): readonly string[];
  request(peer: string, kind: string, body: unknown): Promise<unknown>;
  /** How long a site that has just started may take until it is connected. Default: 5000 */
  readonly connectTimeoutMs?: number;
  /**
   * Proposes the version of this node. Resolves with the outcome, and with the reason if the
   * version is not active.
   */
  propose(): Promise<ProposalOutcome>;
}

export function getNodeVersion({ own, getInForce }: VersionContext): NodeVersion {
  return { ...getName(own), inForce: getName(getInForce()) };
}

/** Answers a request about versions; returns `undefined` for another request. */
export function answerVersion(
  kind: string,
  context: VersionContext,
): NodeVersion | Promise<ActivateReply> | undefined {
  if (kind === VERSION) return getNodeVersion(context);
  return kind === ACTIVATE ? activateVersion(context) : undefined;
}

/** Activates the version of this node, if all sites run it. */
async function activateVersion(context: VersionContext): Promise<ActivateReply> {
  const { site, getOthers, propose } = context;
  const version = getNodeVersion(context);
  const { inForce } = version;
  const others = getOthers();
  const answers = await Promise.allSettled(others.map((peer) => requestVersion(context, peer)));
  const silent = others.filter((_, index) => answers[index]?.status === 'rejected');
  if (silent.length > 0)
    return {
      problem: `no answer from ${silent.join(', ')}: every site has to run`,
    };
  const running = new Map<string, VersionName>([[site, version]]);
  for (const [index, answer] of answers.entries())
    if (answer.status === 'fulfilled') running.set(others[index] as string, answer.value);
  const problem = describeDifference(running, inForce);
  if (problem !== undefined) return { problem };
  const { rules, service } = version;
  const activated = { version: { rules, service } };
  if (isSameName(version, inForce)) return { ...activated, isNew: false };
  const { problem: refused, isUnknown } = await propose();
  if (refused !== undefined) return { problem: refused, isUnknown };
  return { ...activated, isNew: true };
}

/**
 * Repeats a request until the site answers: often, the site that was upgraded last has only just
 * started.
 */
async function requestVersion(
  { request, connectTimeoutMs = 5000 }: VersionContext,
  peer: string,
): Promise<VersionName> {
  const endMs = performance.now() + connectTimeoutMs;
  for (;;) {
    try {
      return parseName(await request(peer, VERSION, null));
    } catch (error) {
      if (performance.now() >= endMs) throw error;
      await pause(RETRY_DELAY_MS, undefined, { ref: false });
    }
  }
}

/** Names the sites that do not run the new version. Returns `undefined` if all run the same. */
function describeDifference(
  running: ReadonlyMap<string, VersionName>,
  inForce: VersionName,
): string | undefined {
  const sites = [...running];
  const [first] = running.values();
  if (sites.every(([, version]) => isSameName(version, first as VersionName))) return undefined;
  const list = sites.map(([site, version]) => `${site} runs ${formatVersion(version)}`).join(', ');
  const old = sites.filter(([, version]) => isSameName(version, inForce)).map(([site]) => site);
  if (old.length === 0)
    return `the sites run different versions: ${list}. Start all of them with the same`;
  return `${old.join(', ')} ${old.length === 1 ? 'does' : 'do'} not run the new version (${list}). Start it there first`;
}

export function formatVersion({ rules, service }: VersionName): string {
  return `service ${service} with rules ${rules}`;
}

export function isSameName(a: VersionName, b: VersionName): boolean {
  return a.rules === b.rules && a.service === b.service;
}

function parseName(reply: unknown): VersionName {
  const { rules, service } = isRecord(reply) ? reply : {};
  if (!Number.isSafeInteger(rules) || typeof service !== 'string')
    throw new Error('the version could not be read');
  return { rules: rules as number, service };
}
