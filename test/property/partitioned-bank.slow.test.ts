/**
 * Transfers between accounts of two partitions, withdrawals, deposits and strong reads at random
 * sites, which stop and start again. All sites end with the same balances, no money is lost, no row
 * is held, and red operations and strong reads are strictly serializable.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseName } from '../../src/server/service/generator/read-set.ts';
import { getExecutionName } from '../../src/server/site/lane/global-records.ts';
import type { BlueOperation, RedOperation } from '../../src/server/service/records/records.ts';
import { SiteState } from '../../src/server/site/core/site-state.ts';
import {
  findStrictCycle,
  type StrictOperation,
} from '../../src/testing/simulator/checkers/strict.ts';
import { createRandom } from '../support/globals/seeded-random.ts';
import { scaleRuns } from '../support/lane.ts';
import type { SiteWorld } from '../support/site-world.ts';
import {
  balance,
  call,
  createWorld,
  deposit,
  withdraw,
} from '../unit/server/site/lane/partitions/partitioned-bank.ts';

const RUNS = Number(process.env['BANK_RUNS'] ?? scaleRuns(8));
const FIRST_SEED = Number(process.env['BANK_SEED'] ?? 1);
const PLANTED_RUNS = 300;
const STEPS = 150;
const ACCOUNTS = ['us/ann', 'us/eve', 'eu/bob', 'eu/dan'];
const SITES = [0, 1, 2];
const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };

interface Submitted {
  readonly outcome: { readonly value?: unknown };
  readonly begunAt: number;
  endedAt?: number;
}

interface Pair {
  readonly first: string;
  readonly second: string;
  readonly number: number;
}

/** What sites have shown, by the observers of their replicas. */
class Notes {
  world: SiteWorld | undefined;
  /** By amount: each operation has another one. */
  readonly submitted = new Map<number, Submitted>();
  readonly executions = new Map<
    string,
    { amount: number; seen: Map<string, string | undefined> }
  >();
  /** By the number of a strong read: what its last execution has seen. */
  readonly reads = new Map<number, Map<string, string | undefined>>();
  readonly #writers = new Map<SiteState, Map<string, string[]>>();

  readonly observer = {
    onCreated: (operation: BlueOperation | RedOperation) => this.#onCreated(operation),
    onApplied: (operation: BlueOperation | RedOperation, state: SiteState) => {
      if (!('attempt' in operation)) return;
      const writers = this.writersOf(state);
      for (const { key } of operation.effects) {
        const ofRow = writers.get(key) ?? [];
        writers.set(key, [...ofRow, getExecutionName(operation)]);
      }
    },
  };

  writersOf(state: SiteState): Map<string, string[]> {
    const writers = this.#writers.get(state) ?? new Map<string, string[]>();
    this.#writers.set(state, writers);
    return writers;
  }

  onRead(state: SiteState, { first, second, number }: Pair): void {
    const writers = this.writersOf(state);
    this.reads.set(number, new Map([first, second].map((key) => [key, writers.get(key)?.at(-1)])));
  }

  /** The strong reads that were answered. */
  listReads(): StrictOperation[] {
    return [...this.reads].flatMap(([number, seen]) => {
      const { begunAt, endedAt } = this.submitted.get(number)!;
      return endedAt === undefined ? [] : [{ name: `read ${number}`, begunAt, endedAt, seen }];
    });
  }

  #onCreated(operation: BlueOperation | RedOperation): void {
    if (!('attempt' in operation)) return;
    const { state } = this.world!.machines[operation.site - 1]!;
    const keys = operation.reads
      .map((name) => parseName(name).key ?? '')
      .filter((key) => ACCOUNTS.includes(key));
    const writers = this.writersOf(state);
    const seen = new Map(keys.map((key) => [key, writers.get(key)?.at(-1)]));
    const amount = Math.abs(Number(operation.effects[0]?.value ?? 0));
    this.executions.set(getExecutionName(operation), { amount, seen });
  }

  /** The operations that have committed with effects. */
  listCommitted(writers: ReadonlyMap<string, readonly string[]>): StrictOperation[] {
    return [...new Set([...writers.values()].flat())].map((name) => {
      const { amount, seen } = this.executions.get(name)!;
      const { begunAt, endedAt } = this.submitted.get(amount)!;
      return { name, begunAt, endedAt, seen };
    });
  }
}

interface BankRun {
  readonly transfers: number;
  readonly reads: number;
  readonly restarts: number;
}

/**
 * @param isChecked whether strong reads are checked in the logs of all partitions; a planted fault
 * if not
 */
function runBank(seed: number, isChecked = true): BankRun {
  const random = createRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const notes = new Notes();
  // Each execution reads what its site shows, so that its reads are known.
  const world = createWorld({ observer: notes.observer, maxPipelineLength: 0, maxAttempts: 20 });
  notes.world = world;
  const { readInOrder } = SiteState.prototype;
  const spy = vi.spyOn(SiteState.prototype, 'readInOrder').mockImplementation(function (
    this: SiteState,
    input,
    home,
  ) {
    const run = readInOrder.call(this, input, home);
    notes.onRead(this, input.args as Pair);
    return isChecked ? run : { ...run, others: [] };
  });
  onTestFinished(() => spy.mockRestore());
  for (const account of ACCOUNTS) world.submit(0, deposit(account, 100_000));
  world.settle();
  let deposited = 400_000;
  let restarts = 0;
  let step = 0;
  const note = (): void => {
    for (const item of notes.submitted.values())
      if (item.outcome.value !== undefined) item.endedAt ??= step;
  };
  for (; step < STEPS; step += 1) {
    const site = pick(SITES.filter((item) => world.machines[item] !== undefined));
    const amount = step + 1;
    const [from, to] = [pick(ACCOUNTS), pick(ACCOUNTS)];
    const kind = random();
    if (kind < 0.15) {
      world.submit(site, deposit(from, amount));
      deposited += amount;
    } else if (kind < 0.7) {
      const operation =
        kind < 0.4 || from === to ? withdraw(from, amount) : call('transfer', { from, to, amount });
      notes.submitted.set(amount, { outcome: world.submit(site, operation), begunAt: step });
    } else if (kind < 0.8) {
      const operation = call('pair', { first: from, second: to, number: amount });
      notes.submitted.set(amount, {
        outcome: world.submit(site, operation, STRONG),
        begunAt: step,
      });
    } else if (kind < 0.83) {
      const [down] = SITES.filter((item) => world.machines[item] === undefined);
      if (down === undefined) {
        // What it has acknowledged, others have.
        world.settle();
        world.crash(site);
        restarts += 1;
      } else world.start(down);
    } else if (random() < 0.5) world.tick();
    for (const item of SITES) if (random() < 0.7) world.sync(item);
    const held = [pick(SITES), pick(SITES)];
    world.deliver(
      ({ from: sender, to: receiver }) => !(sender === held[0] && receiver === held[1]),
    );
    note();
  }
  for (const site of SITES) if (world.machines[site] === undefined) world.start(site);
  for (let turn = 0; turn < 100; turn += 1) {
    world.pass(50);
    note();
    step += 1;
  }
  spy.mockRestore();
  return { transfers: judge(world, notes, deposited), reads: notes.listReads().length, restarts };
}

/** Returns the number of transfers that were done. */
function judge(world: SiteWorld, notes: Notes, deposited: number): number {
  const states = world.machines.map((machine) => machine!.state);
  const balances = SITES.map((site) =>
    ACCOUNTS.map((account) => world.read(site, balance(account)) as number),
  );
  expect(balances[1]).toEqual(balances[0]);
  expect(balances[2]).toEqual(balances[0]);
  for (const machine of world.machines)
    for (const { order } of machine!.red.lanes)
      expect([order.holds?.standing.size, order.isGateEmpty]).toEqual([0, true]);

  const writers = notes.writersOf(states[0]!);
  for (const state of states)
    expect(Object.fromEntries(notes.writersOf(state))).toEqual(Object.fromEntries(writers));
  const committed = [...notes.listCommitted(writers), ...notes.listReads()];
  const cycle = findStrictCycle(committed, writers);
  if (cycle !== undefined) throw new Error(`no order of ${cycle.join(', ')}`);
  // Each transfer is in both accounts or in none.
  const counts = new Map<string, number>();
  for (const name of [...writers.values()].flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  let withdrawn = 0;
  for (const [name, count] of counts)
    if (count === 1) withdrawn += notes.executions.get(name)!.amount;
  const total = balances[0]!.reduce((sum, item) => sum + item, 0);
  expect(total).toBe(deposited - withdrawn);
  return [...counts.values()].filter((count) => count === 2).length;
}

test('transfers over two partitions are whole and strictly serializable', () => {
  let restarts = 0;
  let transfers = 0;
  let reads = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
    try {
      const run = runBank(seed);
      restarts += run.restarts;
      transfers += run.transfers;
      reads += run.reads;
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  expect(restarts).toBeGreaterThan(0);
  expect(transfers).toBeGreaterThan(RUNS);
  expect(reads).toBeGreaterThan(RUNS);
});

// @rule PART-G10
test('planted: strong reads by markers only see writes in opposite orders', () => {
  const run = (): void => {
    for (let seed = 1; seed <= PLANTED_RUNS; seed += 1) runBank(seed, false);
  };
  expect(run).toThrow(/no order of/);
});
