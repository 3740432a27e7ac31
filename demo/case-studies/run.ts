/** One run of a case study: sites, data, users for a while, and what all sites show at the end. */
import { seeded } from '../shared/random.ts';
import type { CaseStudy } from './case-study.ts';
import { openDeployment, type Deployment, type SiteDoor } from './deployment.ts';
import { auditEverywhere, whenCaughtUp } from './everywhere.ts';
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
  /** Whether every invariant held while the sites were at work and holds at each at the end, with the same data at all. */
  readonly sound: boolean;
  readonly agree: boolean;
  /** What sites told while they were at work. */
  readonly alarms: readonly string[];
  readonly audits: Readonly<Partial<Record<Site, SiteAudit>>>;
}

export interface RunOptions extends Omit<Options, 'study' | 'mix' | 'headless' | 'json' | 'port'> {
  readonly study: CaseStudy;
  /** One of the study's. */
  readonly mix: string;
  /** Ends the run before its time. */
  readonly signal?: AbortSignal;
}

/** Loads the data through the first site, and waits until all have it. @returns how many operations that were */
export async function load(
  study: CaseStudy,
  doors: Deployment['doors'],
  { scale, seed }: { readonly scale: number; readonly seed: number },
): Promise<number> {
  const store = new CountingStore(doors[0].client);
  const operations = study.populate(scale, seeded(seed))[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (let next = operations.next(); next.done !== true; next = operations.next()) await store.ask(next.value);
  };
  await Promise.all(Array.from({ length: LOADING }, work));
  await whenCaughtUp(study, doors);
  return store.asked.operations;
}

/** Lets so many users work at each site until `signal` aborts. */
export async function letUsersWork(doors: readonly SiteDoor[], users: number, options: UserOptions): Promise<void> {
  await Promise.all(
    doors.flatMap((door, at) => Array.from({ length: users }, (_, n) => runUser(at * users + n, door, options))),
  );
}

/** Runs a study as `options` say. `progress` gets lines for a person. */
export async function runStudy(options: RunOptions, progress: (line: string) => void): Promise<Report> {
  const { study, mix, scale, users, think, wan, seed } = options;
  progress(`starting ${options.sites} sites (delays: ${wan})`);
  const deployment = await openDeployment({ service: study.service, sites: options.sites, wan });
  const { doors } = deployment;
  try {
    const loadFrom = performance.now();
    const loading = await load(study, doors, { scale, seed });
    const loadSeconds = secondsSince(loadFrom);
    progress(`loaded ${scale} of the paper's data with ${loading} operations in ${loadSeconds} s`);
    const tally = new Tally();
    const seconds = await measure(doors, options, tally, progress);
    progress('the users have gone; waiting until each site has what the others have');
    const audits = await auditEverywhere(study, doors);
    const agree = new Set(audits.map(({ digest }) => digest)).size === 1;
    const sound = agree && deployment.alarms.length === 0 && audits.every(({ broken }) => broken.length === 0);
    const named = doors.map(({ site }, at) => [site, { rows: audits[at]?.rows, broken: audits[at]?.broken }]);
    const setting = { study: study.name, mix, scale, users, think, wan, seed, seconds, loadSeconds };
    const found = { sound, agree, alarms: deployment.alarms, audits: Object.fromEntries(named) as Report['audits'] };
    return { ...setting, ...tally.figures(seconds), ...found };
  } finally {
    await deployment.close();
  }
}

/** @returns how many seconds the users worked */
async function measure(
  doors: readonly SiteDoor[],
  options: RunOptions,
  tally: Tally,
  progress: (line: string) => void,
): Promise<number> {
  const { study, scale, think, seed, users } = options;
  // Not by `AbortSignal.timeout`, which may be collected before its time while nobody listens but through `any`.
  const end = new AbortController();
  const leave = (): void => end.abort();
  const timer = setTimeout(leave, options.seconds * 1000);
  options.signal?.addEventListener('abort', leave);
  if (options.signal?.aborted === true) leave();
  const told = setInterval(() => progress(`${tally.interactions} interactions`), PROGRESS_EVERY_MS);
  const from = performance.now();
  try {
    const mix = study.mixes[options.mix] ?? {};
    await letUsersWork(doors, users, { study, scale, mix, think, seed, signal: end.signal, onInteraction: tally.add });
  } finally {
    clearInterval(told);
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', leave);
  }
  return secondsSince(from);
}

const secondsSince = (from: number): number => Math.round(performance.now() - from) / 1000;
