/** One run of a case study: sites, data, users for a while, and what all sites show at the end. */
import { setMaxListeners } from 'node:events';
import { seeded } from '../../demo/shared/random.ts';
import type { CaseStudy } from './case-study.ts';
import { openDeployment, type Deployment, type SiteDoor } from './deployment.ts';
import { auditEverywhere, whenCaughtUp } from './wait-for-convergence.ts';
import { Tally, type RunFigures } from './figures.ts';
import type { Options } from './options.ts';
import type { Site } from './sites.ts';
import { CountingStore, runUser, type UserOptions } from './user.ts';

/** Operations under way while data is loaded. */
const LOADING = 8;
const PROGRESS_EVERY_MS = 5000;

/** What a site shows at the end. */
export interface SiteAudit {
  readonly rows: number;
  readonly broken: readonly string[];
}

export interface Report extends RunFigures {
  readonly study: string;
  readonly mix: string;
  readonly scale: number;
  readonly users: number;
  readonly think: number;
  readonly wan: string;
  readonly seed: number;
  readonly seconds: number;
  readonly loadSeconds: number;
  /**
   * Whether every invariant held while the sites were at work and holds at each at the end, with
   * the same data at all.
   */
  readonly sound: boolean;
  readonly agree: boolean;
  /** What sites reported while they were at work. */
  readonly alarms: readonly string[];
  readonly audits: Readonly<Partial<Record<Site, SiteAudit>>>;
}

export interface TieredRunOptions extends Omit<
  Options,
  'study' | 'mix' | 'headless' | 'json' | 'port'
> {
  readonly study: CaseStudy;
  /** One of the study's. */
  readonly mix: string;
  /** Ends the run before its time. */
  readonly signal?: AbortSignal;
}

/** What is loaded. */
interface Loading {
  readonly scale: number;
  readonly seed: number;
  /** Ends it before all of it is there. */
  readonly signal?: AbortSignal;
}

/**
 * Loads the data through the first site, and waits until all have it. @returns how many operations
 * that were
 */
export async function load(
  study: CaseStudy,
  doors: Deployment['doors'],
  { scale, seed, signal }: Loading,
): Promise<number> {
  const store = new CountingStore(doors[0].client);
  const operations = study.populate(scale, seeded(seed))[Symbol.iterator]();
  const isOver = (): boolean => signal?.aborted === true;
  const work = async (): Promise<void> => {
    while (!isOver()) {
      const next = operations.next();
      if (next.done === true) return;
      await store.ask(next.value);
    }
  };
  await Promise.all(Array.from({ length: LOADING }, work));
  await whenCaughtUp(study, doors);
  return store.asked.operations;
}

/** Lets so many users work at each site until `signal` aborts. */
export async function letUsersWork(
  doors: readonly SiteDoor[],
  users: number,
  options: UserOptions,
): Promise<void> {
  // All of them listen, which Node would take for a leak.
  setMaxListeners(0, options.signal);
  await Promise.all(
    doors.flatMap((door, at) =>
      Array.from({ length: users }, (_, n) => runUser(at * users + n, door, options)),
    ),
  );
}

/** A study with its data at all of its sites. */
export interface LoadedStudy extends Deployment {
  /** Operations that loaded it. */
  readonly loading: number;
  readonly loadSeconds: number;
}

type LoadOptions = Pick<TieredRunOptions, 'study' | 'sites' | 'wan' | 'scale' | 'seed' | 'signal'>;

/** Starts the sites and loads the data. */
export async function openStudy({
  study,
  sites,
  wan,
  ...loaded
}: LoadOptions): Promise<LoadedStudy> {
  const deployment = await openDeployment({ service: study.service, sites, wan });
  try {
    const from = performance.now();
    const loading = await load(study, deployment.doors, loaded);
    return { ...deployment, loading, loadSeconds: secondsSince(from) };
  } catch (error) {
    await deployment.close();
    throw error;
  }
}

/** Runs a study as `options` say. `progress` gets lines for a person. */
export async function runStudy(
  options: TieredRunOptions,
  progress: (line: string) => void,
): Promise<Report> {
  const { study, mix, scale, users, think, wan, seed } = options;
  progress(`starting ${options.sites} sites (delays: ${wan})`);
  const loaded = await openStudy(options);
  const { doors, loading, loadSeconds } = loaded;
  try {
    const share = options.signal?.aborted === true ? 'a part' : scale;
    progress(`loaded ${share} of the paper's data with ${loading} operations in ${loadSeconds} s`);
    const stats = new Tally();
    const reported = setInterval(
      () => progress(`${stats.interactions} interactions`),
      PROGRESS_EVERY_MS,
    );
    const work = { ...options, mix: study.mixes[mix] ?? {}, onInteraction: stats.add };
    const seconds = await workFor(doors, work).finally(() => clearInterval(reported));
    progress('the users have gone; waiting until each site has what the others have');
    const found = await soundnessOf(study, loaded);
    const setting = {
      study: study.name,
      mix,
      scale,
      users,
      think,
      wan,
      seed,
      seconds,
      loadSeconds,
    };
    return { ...setting, ...stats.figures(seconds), ...found };
  } finally {
    await loaded.close();
  }
}

/**
 * Returns what all sites show once no client is at work any more and each site has what the others
 * have.
 */
export async function soundnessOf(
  study: CaseStudy,
  { doors, alarms }: Pick<Deployment, 'doors' | 'alarms'>,
): Promise<Pick<Report, 'sound' | 'agree' | 'alarms' | 'audits'>> {
  const audits = await auditEverywhere(study, doors);
  const agree = new Set(audits.map(({ digest }) => digest)).size === 1;
  const sound = agree && alarms.length === 0 && audits.every(({ broken }) => broken.length === 0);
  const named = doors.map(({ site }, at) => [
    site,
    { rows: audits[at]?.rows, broken: audits[at]?.broken },
  ]);
  return { sound, agree, alarms, audits: Object.fromEntries(named) as Report['audits'] };
}

/** How users work for a while. */
export interface Work extends Omit<UserOptions, 'signal'> {
  /** At each door. */
  readonly users: number;
  readonly seconds: number;
  /** Ends it before its time. */
  readonly signal?: AbortSignal;
}

/**
 * Lets users work at each door, and waits for what is under way at the end. @returns how many
 * seconds they worked
 */
export async function workFor(doors: readonly SiteDoor[], options: Work): Promise<number> {
  const { users, seconds, signal } = options;
  // Not by `AbortSignal.timeout`, which may be collected too early if it has listeners only through
  // `any`.
  const end = new AbortController();
  const leave = (): void => end.abort();
  const timer = setTimeout(leave, seconds * 1000);
  signal?.addEventListener('abort', leave);
  if (signal?.aborted === true) leave();
  const from = performance.now();
  try {
    await letUsersWork(doors, users, { ...options, signal: end.signal });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
  return secondsSince(from);
}

const secondsSince = (from: number): number => Math.round(performance.now() - from) / 1000;
