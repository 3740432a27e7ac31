/**
 * The storm: a process of gateways, the clients that storm it, honest clients beside, and the
 * verdict.
 */
import { Attackers, type Tally } from './attackers.ts';
import type { SiteFacts } from './client-script.ts';
import { WellBehavedClients } from './well-behaved-clients.ts';
import type { Measure } from './messages.ts';
import type { Options } from './options.ts';
import { contract } from './service.ts';
import { Target } from './target.ts';
import { LEVELS } from '../support/wire.ts';

/** Something that should not be. */
interface Finding {
  readonly kind: 'crash' | 'leak' | 'untrue' | 'unserved';
  /** `--seed` of a run that begins with it. */
  readonly seed: number;
  readonly what: string;
}

export interface Report {
  readonly seed: number;
  readonly minutes: number;
  readonly frames: number;
  readonly connections: number;
  readonly requests: number;
  /** Updates of honest clients. */
  readonly honest: number;
  readonly crashes: number;
  readonly leaks: number;
  readonly untrueOutcomes: number;
  readonly findings: readonly Finding[];
}

/** What is known of the process that is stormed, until it dies. */
interface Bout {
  readonly seed: number;
  isDead: boolean;
}

const WARM_CONNECTIONS = 200;
const CRASHES_MAX = 3;
const MINUTE_MS = 60_000;
const PROGRESS_MS = 5_000;
/** What a storm may leave in memory: logs, code that was compiled. */
const LEFT_MB = 96;
const LEFT_BYTES_A_CONNECTION = 4_000;
/** How long what was used is let go of, and who is gone is forgotten, at most. */
const SETTLE_MS = 90_000;
const MEASURE_EVERY_MS = 250;
const NAMED_MAX = 5;

/** Runs the storm until its time is over, its frames are sent, or processes have died too often. */
export async function runFuzz(options: Options, progress: (text: string) => void): Promise<Report> {
  const run = new Storm(options, progress);
  await run.run();
  return run.report();
}

class Storm {
  readonly #options: Options;
  readonly #progress: (text: string) => void;
  readonly #tally: Tally = { frames: 0, connections: 0, requests: 0 };
  readonly #findings: Finding[] = [];
  readonly #fromMs = performance.now();
  #honest = 0;
  #untilMs = 0;

  constructor(options: Options, progress: (text: string) => void) {
    this.#options = options;
    this.#progress = progress;
  }

  report(): Report {
    const { seed } = this.#options;
    const findings = this.#findings;
    const of = (kind: Finding['kind']): number =>
      findings.filter((item) => item.kind === kind).length;
    return {
      seed,
      minutes: Math.round(((performance.now() - this.#fromMs) / MINUTE_MS) * 100) / 100,
      ...this.#tally,
      honest: this.#honest,
      crashes: of('crash'),
      leaks: of('leak'),
      untrueOutcomes: of('untrue'),
      findings,
    };
  }

  async run(): Promise<void> {
    const { seed, minutes } = this.#options;
    this.#progress(`seed ${seed}`);
    this.#untilMs = performance.now() + minutes * MINUTE_MS;
    const timer = setInterval(() => this.#progress(this.#inWords()), PROGRESS_MS);
    for (let from = seed; ;) {
      from = await this.#bout(from);
      if (this.#isTimeOver() || this.report().crashes >= CRASHES_MAX) break;
    }
    clearInterval(timer);
    this.#progress(this.#inWords());
  }

  #isTimeOver(): boolean {
    return performance.now() > this.#untilMs || this.#tally.frames >= this.#options.frames;
  }

  /** Goes on until the process dies, or the time is over; returns the seed to go on from. */
  async #bout(seed: number): Promise<number> {
    const bout = { seed, isDead: false };
    await using gateways = await Target.start();
    const attackers = new Attackers(seed, listSites(gateways.urls), this.#tally);
    const honest = await WellBehavedClients.connect(gateways.urls);
    void gateways.died.then(() => honest.close());
    this.#watch(gateways, attackers, bout);

    const isOver = (): boolean => bout.isDead || this.#isTimeOver();
    // Before anything is measured, everything has been used once.
    const warmUntil = this.#tally.connections + WARM_CONNECTIONS;
    const isWarm = (): boolean => isOver() || this.#tally.connections > warmUntil;
    honest.start(isWarm);
    await attackers.run(isWarm);
    await honest.ended();
    if (isOver()) return attackers.next;
    const before = await gateways.measure();

    honest.start(isOver);
    await attackers.run(isOver);
    await honest.ended();
    if (gateways.death === undefined) {
      await this.#judgeHonest(honest, gateways, bout);
      await honest.close();
      await this.#judgeLeaks(gateways, before?.measure, bout);
    }
    return attackers.next;
  }

  #inWords(): string {
    const { frames, connections, requests } = this.#tally;
    const seconds = Math.round((performance.now() - this.#fromMs) / 1000);
    return `${seconds} s: ${frames} frames, ${connections} connections, ${requests} requests, ${this.#findings.length} findings`;
  }

  #watch(target: Target, attackers: Attackers, bout: Bout): void {
    void target.died.then(({ code, signal, stderr }) => {
      bout.isDead = true;
      // At the end it is killed by us.
      if (signal === 'SIGKILL') return;
      const reason = stderr.split('\n').find((line) => /Error|FATAL/.test(line)) ?? '';
      this.#find({
        kind: 'crash',
        seed: attackers.seed,
        what: `the process of the gateways ended with ${code ?? signal}: ${reason.trim()}`,
      });
      this.#progress(`${stderr}\nthe last inputs:\n${attackers.last.join('\n')}`);
    });
  }

  #find(finding: Finding): void {
    this.#findings.push(finding);
    this.#progress(`${finding.kind} (--seed ${finding.seed}): ${finding.what}`);
  }

  async #judgeHonest(honest: WellBehavedClients, gateways: Target, { seed }: Bout): Promise<void> {
    const counted = (await gateways.measure())?.executed;
    if (counted === undefined) return;
    const { updates, untrue, unserved } = await honest.verdict(counted);
    this.#honest += updates;
    for (const description of untrue.slice(0, NAMED_MAX))
      this.#find({ kind: 'untrue', seed, what: description });
    for (const subject of unserved.slice(0, NAMED_MAX))
      this.#find({ kind: 'unserved', seed, what: subject });
  }

  /**
   * Waits until the process holds no more than before, and no clients. Reports what is left
   * otherwise.
   */
  async #judgeLeaks(target: Target, before: Measure | undefined, { seed }: Bout): Promise<void> {
    const untilMs = performance.now() + SETTLE_MS;
    const leftMb = LEFT_MB + (this.#tally.connections * LEFT_BYTES_A_CONNECTION) / 2 ** 20;
    let leaks: string[] = [];
    do {
      const now = (await target.measure())?.measure;
      if (now === undefined || before === undefined) return;
      leaks = [];
      for (const [kind, count] of Object.entries(now.handles)) {
        const earlier = before.handles[kind] ?? 0;
        if (count > earlier) leaks.push(`${kind}: ${earlier} before, ${count} after`);
      }
      for (const description of ['descriptors', 'connections'] as const) {
        if (now[description] > before[description])
          leaks.push(`${description}: ${before[description]} before, ${now[description]} after`);
      }
      for (const [kind, count] of Object.entries(now.remembered)) {
        if (count > 0) leaks.push(`remembered: ${count} ${kind}`);
      }
      if (now.memoryMb > before.memoryMb + leftMb)
        leaks.push(`memory: ${before.memoryMb} MB before, ${now.memoryMb} MB after`);
      if (leaks.length > 0) await new Promise((resolve) => setTimeout(resolve, MEASURE_EVERY_MS));
    } while (leaks.length > 0 && performance.now() < untilMs);
    for (const subject of leaks) this.#find({ kind: 'leak', seed, what: subject });
  }
}

const REDBLUE_LEVELS = ['tentative', 'causal', 'strong'];

function listSites(urls: Readonly<Record<string, string>>): [SiteFacts, ...SiteFacts[]] {
  const { name, hash } = contract;
  const facts = (site: string): SiteFacts => ({
    name: site,
    port: Number(new URL(urls[site] as string).port),
    levels: site === 'ireland' || site === 'frankfurt' ? REDBLUE_LEVELS : LEVELS,
    contract: site === 'open' || site === 'closed' ? undefined : { name, hash },
  });
  return [facts('ireland'), ...['frankfurt', 'open', 'closed', 'third', 'open'].map(facts)];
}
